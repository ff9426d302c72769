internal import Glibc

/// The reasons why a program has no outcome.
package enum ProcessError: Error, Equatable, Sendable {
  /// The program does not exist, or its path is not absolute.
  case notFound(program: String)
  /// The file exists but cannot be executed: no permission, a folder, an unknown format, or a missing interpreter.
  case notExecutable(program: String, errno: Int32)
  /// A path, an argument or a variable contains a NUL byte, which the system would treat as its end.
  case containsNUL(program: String)
  /// A stream, or a line of it, exceeded the limit in bytes.
  case tooMuchOutput(program: String, stream: ProcessStream, limit: Int)
  /// A system call failed while the program was started or ran, or another part of this process collected its status.
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
