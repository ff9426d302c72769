internal import Glibc

/// A file operation that failed, on what, and why.
public struct FileError: Error, Equatable, Sendable {
  /// Why an operation failed.
  public enum Reason: Equatable, Sendable {
    /// The system refused; the value of `errno`.
    case system(Int32)
    /// Something that is no regular file (a link, a pipe, a folder) stands where a file is expected.
    case notARegularFile
    /// The file has other names (hard links), so it may be changed from outside the store.
    case hasOtherNames
    /// The file is larger than what is ever read; the limit in bytes.
    case tooLarge(limit: Int)
  }

  /// What was attempted, in the words of the system call: `open`, `rename`, ...
  public let operation: String
  /// The path, relative to the folder it was attempted in.
  public let path: String
  /// Why it failed.
  public let reason: Reason

  package init(_ operation: String, _ path: String, _ reason: Reason) {
    self.operation = operation
    self.path = path
    self.reason = reason
  }

  /// The error for the current value of `errno`.
  package static func current(_ operation: String, _ path: String) -> FileError {
    FileError(operation, path, .system(errno))
  }

  /// Whether nothing is there: the file or a folder above it does not exist.
  package var isMissing: Bool { reason == .system(ENOENT) || reason == .system(ENOTDIR) }
}
