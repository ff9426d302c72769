internal import Glibc
internal import KeytreeCLI

exit(Program.run(commit: embeddedCommit))
