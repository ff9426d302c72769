internal import Glibc
package import Secrets

/// The reasons why a command cannot ask a question, read its input or write its output.
package enum TerminalError: Error, Equatable {
  /// The reasons why a question cannot be asked.
  package enum PromptObstacle: Equatable, Sendable {
    /// `--no-input` was given.
    case inputRefused
    /// Standard input is not a terminal.
    case noTerminal
    /// Standard input belongs to another program, and no terminal is available.
    case noTerminalBesideProgram
  }

  /// A required question could not be asked.
  case promptImpossible(question: String, PromptObstacle)
  /// The user answered no, or a signal arrived.
  case cancelled(action: String)
  /// The new secret has no bytes.
  case emptySecret
  /// The new secret was entered differently each time.
  case secretsDiffer
  /// The new secret has more bytes than a secret may have.
  case secretTooLong(limit: Int)
  /// A typed line is longer than the limit of the kernel, 4095 bytes on Linux; `termios(3)`.
  case lineTooLong(limit: Int)
  /// Standard input or the terminal cannot be read.
  case inputFailed(errno: Int32)
  /// Standard output cannot be written.
  case outputFailed(errno: Int32)
  /// The reader of standard output has closed it. This is not reported.
  case outputClosed

  /// Converts an error of a prompt or of a read.
  package init(_ error: SecretInputError) {
    switch error {
    case .tooLong(let limit): self = .secretTooLong(limit: limit)
    case .lineTooLong(let limit): self = .lineTooLong(limit: limit)
    case .timedOut: self = .inputFailed(errno: ETIMEDOUT)
    case .endOfInput, .interrupted: self = .cancelled(action: "the question was not answered")
    case .notATerminal: self = .promptImpossible(question: "Secret", .noTerminal)
    case .readFailed(let number): self = .inputFailed(errno: number)
    }
  }
}

/// An error of a file of the user, outside of any store.
package struct UserFileError: Error, Equatable {
  /// The action that failed, such as `open`.
  package let action: String
  /// The path as the user gave it.
  package let path: String
  /// The error number of the system.
  package let errno: Int32

  /// Describes an error.
  package init(action: String, path: String, errno: Int32) {
    (self.action, self.path, self.errno) = (action, path, errno)
  }
}
