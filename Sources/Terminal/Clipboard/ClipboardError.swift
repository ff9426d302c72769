/// An error of the clipboard.
package struct ClipboardError: Error, Equatable {
  /// The reasons why the clipboard cannot be used.
  package enum Problem: Equatable, Sendable {
    /// No variable identifies a session.
    case noSession
    /// This process has no terminal.
    case noTerminal
    /// There is a session, but none of the programs for it.
    case noProgram([Clipboard.Way])
    /// The secret has more bytes than the clipboard takes.
    case tooLong(limit: Int)
    /// The clipboard of Windows holds text, and the secret is not UTF-8.
    case notText
    /// A program could not be started, or failed.
    case failed(program: String, session: String?)
    /// A program did not end in time.
    case timeout(program: String, session: String?)
  }

  /// The reason.
  package let problem: Problem
  /// True if the session is one of ssh, where the terminal has a clipboard of its own.
  package let isRemote: Bool

  /// Describes an error in the session of an environment.
  package init(_ problem: Problem, _ environment: Environment = Environment(entries: [])) {
    self.problem = problem
    isRemote = environment.text("SSH_CONNECTION") != nil || environment.text("SSH_TTY") != nil
  }
}
