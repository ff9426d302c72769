internal import Glibc

/// The reasons why a program has no outcome.
package enum ProcessError: Error, Equatable, Sendable {
  /// There is no such program, or its path is not absolute.
  case notFound(program: String)
  /// The file is there, and cannot be run: no permission, a folder, an unknown format, or an interpreter that is
  /// missing.
  case notExecutable(program: String, errno: Int32)
  /// A path, an argument or a variable has a NUL byte in it, where the system would take it for the end.
  case containsNUL(program: String)
  /// A stream gave more bytes than accepted, or a line of it had more.
  case tooMuchOutput(program: String, stream: ProcessStream, limit: Int)
  /// A system call failed: on the way to the start, or because another part of this process took the status.
  case systemCall(action: String, path: String, errno: Int32)
}

extension ProcessError {
  /// The number of the system error; that of the nearest one for an error of this module.
  package var errno: Int32 {
    switch self {
    case .notFound: ENOENT
    case .notExecutable(_, let number), .systemCall(_, _, let number): number
    case .containsNUL: EINVAL
    case .tooMuchOutput: EFBIG
    }
  }
}
