internal import Glibc

/// A failed file operation: the operation, the path, and the reason.
public struct FileError: Error, Equatable, Sendable {
  /// The reasons for a failure.
  public enum Reason: Equatable, Sendable {
    /// A system call failed with this value of `errno`.
    case system(Int32)
    /// The path is not a regular file but, for example, a symbolic link, a pipe or a folder.
    case notARegularFile
    /// The file has other names (hard links), so it may be changed from outside the store.
    case hasOtherNames
    /// The file is larger than the limit, which is in bytes.
    case tooLarge(limit: Int)
  }

  /// The name of the operation, usually that of the system call: `open`, `rename`, ...
  public let operation: String
  /// The path, relative to the folder in which the operation was attempted; the whole path of that folder itself.
  public let path: String
  /// The reason for the failure.
  public let reason: Reason

  package init(_ operation: String, _ path: String, _ reason: Reason) {
    self.operation = operation
    self.path = path
    self.reason = reason
  }

  /// Returns the error for the current value of `errno`.
  package static func current(_ operation: String, _ path: String) -> FileError {
    FileError(operation, path, .system(errno))
  }

  /// True if the file or one of its parent folders does not exist.
  package var isMissing: Bool { reason == .system(ENOENT) || reason == .system(ENOTDIR) }
}
