internal import FileSystem
internal import Glibc

/// The process of a dialog that gpg-agent has started.
struct PinentryProcess {
  private let number: pid_t

  /// Creates the process from the arguments of the status `PINENTRY_LAUNCHED`, or returns nil if they do not start with
  /// a process id.
  init?(launchStatus arguments: String) {
    let digits = arguments.prefix { $0.isWholeNumber && $0.isASCII }
    // Never a process group.
    guard let number = pid_t(digits), number > 1 else { return nil }
    self.number = number
  }

  /// Ends the dialog if an agent on this machine has started it.
  ///
  /// A forwarded agent reports a process id of the remote machine, and the id of a closed dialog may have been reused.
  /// So the signal is sent only to a descendant of a process named gpg-agent, because `pinentry-program` can be a script
  /// that starts the pinentry. If `/proc` hides the agent (`hidepid`), the dialog stays open until the user closes it.
  ///
  /// The agent may show its next dialog, for another program, in a process that has got the same id. Then that one ends.
  func end() {
    var ancestor = ProcessStatus(of: number)?.parent
    while let process = ancestor, let status = ProcessStatus(of: process) {
      if status.name.elementsEqual("gpg-agent".utf8) {
        kill(number, SIGINT)
        return
      }
      ancestor = status.parent
    }
  }
}
