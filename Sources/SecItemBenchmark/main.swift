// Measures Apple's functions in a process of their own; `keytree-benchmark secitem` runs it and evaluates the numbers.

internal import Foundation

exit(SecItemBenchmark.run(Array(CommandLine.arguments.dropFirst())))
