/// An error that kept a secret from being edited. The item is unchanged in every case.
package enum EditorError: Error, Equatable {
  /// `VISUAL` or `EDITOR` is empty, or a quotation mark in it is not closed.
  case badCommand(String)
  /// The editor was not found.
  case notFound(program: String)
  /// There is no folder in memory for the file.
  case noMemoryFolder(tried: [String])
  /// The editor could not be started.
  case notStarted(program: String, errno: Int32)
  /// The editor ended with a failure.
  case failed(program: String, status: Int32)
  /// The editor was ended by a signal.
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
  var reason: String? {
    switch self {
    case .failed(let program, let status): "\(ErrorReport.quote(program)) ended with status \(status)"
    case .killed(let program, let signal): "\(ErrorReport.quote(program)) was ended by signal \(signal)"
    case .empty: "the edited secret is empty"
    case .tooLong(let limit): "the edited secret is longer than \(limit) bytes"
    default: nil
    }
  }
}

extension ErrorReport {
  /// Creates the report for a secret that could not be edited.
  init(_ failure: EditorError) {
    let again = "run `keytree edit` again; `VISUAL` or `EDITOR` chooses another editor"
    let setEditor = "set `VISUAL` or `EDITOR` to a program and its arguments"
    switch failure {
    case .badCommand(let text):
      self.init(.failure, "cannot edit: the editor \(Self.quote(text)) is not a command", hint: setEditor)
    case .notFound(let program):
      self.init(
        .failure,
        "cannot edit: the editor \(Self.quote(program)) is not found, or only where others can change it",
        hint: setEditor)
    case .noMemoryFolder(let tried):
      let folders = tried.isEmpty ? "none is known" : tried.map(Self.show).joined(separator: ", ")
      self.init(
        .failure, "cannot edit: no folder in memory (tmpfs) to keep the secret off the disk: \(folders)",
        hint: "set `XDG_RUNTIME_DIR`, or pipe the new secret to `keytree set ITEM --secret`")
    case .notStarted(let program, let number):
      self.init(
        .failure, "cannot edit: \(Self.quote(program)) does not start: \(Self.words(number))",
        hint: setEditor)
    case .failed:
      self.init(.failure, "nothing was stored: \(failure.reason ?? "")", hint: again)
    case .empty:
      self.init(
        .failure, "nothing was stored: \(failure.reason ?? "")",
        hint: "`keytree rm ITEM` removes the item; `keytree edit ITEM` tries again")
    case .tooLong:
      self.init(.failure, "nothing was stored: \(failure.reason ?? "")", hint: Self.largeSecretHint)
    case .killed:
      self.init(.cancelled, "nothing was stored: \(failure.reason ?? "")", hint: again)
    case .interrupted(let signal):
      self.init(
        .cancelled, "nothing was stored: keytree was ended by signal \(signal)",
        hint: "run `keytree edit` again")
    case .fileMissing:
      self.init(.cancelled, "nothing was stored: the editor has removed the file", hint: again)
    case .systemCall(let action, let path, let number):
      self.init(
        .failure, "cannot edit: cannot \(action) \(Self.show(path)): \(Self.words(number))",
        hint: Self.hint(number))
    }
  }
}
