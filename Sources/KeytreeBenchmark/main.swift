internal import Glibc

exit(BenchmarkCommandLine.run(Array(CommandLine.arguments.dropFirst())))
