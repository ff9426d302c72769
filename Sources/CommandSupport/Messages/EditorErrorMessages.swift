package import Terminal

extension ErrorReport {
  /// Creates the report for a secret that could not be edited.
  package init(_ failure: EditorError) {
    let again = "run `keytree edit` again; set `VISUAL` or `EDITOR` to use another editor"
    let setEditor = "set `VISUAL` or `EDITOR` to a program and its arguments"
    switch failure {
    case .badCommand(let text):
      self.init(.failure, "cannot edit: the editor \(Self.quote(text)) is not a command", hint: setEditor)
    case .notFound(let program):
      self.init(
        .failure,
        "cannot edit: the editor \(Self.quote(program)) was not found, or only in a folder that other users can "
          + "change",
        hint: setEditor)
    case .noMemoryFolder(let tried):
      let folders = tried.isEmpty ? "none was found" : tried.joined(separator: ", ")
      self.init(
        .failure,
        "cannot edit: no in-memory folder (tmpfs) is available to keep the secret off the disk: \(folders)",
        hint: "set `XDG_RUNTIME_DIR`, or pipe the new secret to `keytree set ITEM --secret`")
    case .notStarted(let program, let number):
      self.init(
        .failure, "cannot edit: cannot start \(Self.quote(program)): \(Self.systemMessage(number))",
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
        .cancelled, "nothing was stored: keytree was killed by signal \(signal)",
        hint: "run `keytree edit` again")
    case .fileMissing:
      self.init(.cancelled, "nothing was stored: the editor removed the file", hint: again)
    case .systemCall(let action, let path, let number):
      self.init(
        .failure, "cannot edit: cannot \(action) \(path): \(Self.systemMessage(number))",
        hint: Self.hint(number))
    }
  }
}
