// The arguments of the process for Swift's `CommandLine`. There is nothing to call.
