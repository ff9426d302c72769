/// An error that kept a secret from being edited. The item is unchanged in every case.
package enum EditorError: Error, Equatable {
  /// `VISUAL` or `EDITOR` is empty, or a quotation mark in it is not closed.
  case badCommand(String)
  /// The editor was not found.
  case notFound(program: String)
  /// No in-memory folder is available for the file.
  case noMemoryFolder(tried: [String])
  /// The editor could not be started.
  case notStarted(program: String, errno: Int32)
  /// The editor exited with a status other than 0.
  case failed(program: String, status: Int32)
  /// The editor was killed by a signal.
  case killed(program: String, signal: Int32)
  /// SIGTERM or SIGHUP ended the editing.
  case interrupted(signal: Int32)
  /// The file no longer exists after the editing, or is not a regular file.
  case fileMissing
  /// The edited secret has no bytes.
  case empty
  /// The edited secret has more bytes than a secret may have.
  case tooLong(limit: Int)
  /// A system call on the folder or the file in it failed.
  case systemCall(action: String, path: String, errno: Int32)

  /// The reason why the edited file was not stored, if editing again may help; else nil.
  package var reason: String? {
    switch self {
    case .failed(let program, let status): "\(Escaping.terminal.quote(program)) exited with status \(status)"
    case .killed(let program, let signal):
      "\(Escaping.terminal.quote(program)) was killed by signal \(signal)"
    case .empty: "the edited secret is empty"
    case .tooLong(let limit): "the edited secret is longer than \(limit) bytes"
    default: nil
    }
  }
}
