/// An error of the clipboard.
package struct ClipboardError: Error, Equatable {
  /// The reasons why the clipboard cannot be used.
  package enum Problem: Equatable, Sendable {
    /// No variable identifies a session.
    case noSession
    /// This process has no terminal.
    case noTerminal
    /// The session exists, but none of the programs for it is installed.
    case noProgram([Clipboard.Way])
    /// The secret has more bytes than can be copied to the clipboard.
    case tooLong(limit: Int)
    /// The clipboard of Windows accepts only text, and the secret is not UTF-8.
    case notText
    /// A program could not be started, or failed.
    case failed(program: String, session: String?)
    /// A program did not exit in time.
    case timeout(program: String, session: String?)
  }

  /// The reason.
  package let problem: Problem
  /// True if this is an ssh session, where the user's terminal has its own clipboard.
  package let isRemote: Bool

  /// Describes an error in the session of an environment.
  package init(_ problem: Problem, _ environment: Environment = Environment(entries: [])) {
    self.problem = problem
    isRemote = environment.text("SSH_CONNECTION") != nil || environment.text("SSH_TTY") != nil
  }
}
