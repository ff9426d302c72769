package import Git

/// The reason why git could not commit changes. They are stored, and the next commit of the store includes them.
public struct HistoryError: Error, Equatable, Sendable {
  /// The error of git.
  package let cause: GitError

  /// Creates the error for an error of git.
  package init(_ cause: GitError) { self.cause = cause }

  /// True if another git has locked the repository, which it usually does for a moment.
  var isLock: Bool {
    if case .locked = cause { true } else { false }
  }
}
