internal import Glibc

exit(CommandLineUse.run(Array(CommandLine.arguments.dropFirst())))
