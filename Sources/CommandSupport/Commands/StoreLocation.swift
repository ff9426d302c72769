package import Terminal

extension Environment {
  /// Returns the path of the store: the option, else `KEYTREE_STORE`, else the default of the settings, else `keytree`
  /// in the folder for data. Each of the first three is the name of a store in the settings or a folder.
  ///
  /// - Parameters:
  ///   - option: the value of `--store`.
  ///   - configuration: returns the user's settings. They are not read for a path with a `/`.
  /// - Throws: `storeLocationUnknown` if no source names the path, `KEYTREE_STORE` is not UTF-8, the option is empty, or
  ///   a path begins with `~/` without `HOME`; the errors of `configuration`.
  package func storePath(
    option: String?, configuration: () throws -> Configuration = { Configuration() }
  ) throws -> String {
    if let option {
      guard !option.isEmpty else { throw CommandError.storeLocationUnknown(reason: "`--store` is empty") }
      return try path(of: option, configuration)
    }
    if let bytes = bytes("KEYTREE_STORE"), !bytes.isEmpty {
      guard let path = text("KEYTREE_STORE") else {
        throw CommandError.storeLocationUnknown(reason: "`KEYTREE_STORE` is not UTF-8")
      }
      return try self.path(of: path, configuration)
    }
    if let name = try configuration().text(.defaultStore) {
      return try expanded(try path(of: name, configuration))
    }
    guard let dataHome else {
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set to an absolute path")
    }
    return dataHome + "/keytree"
  }

  /// The folder of the user's store of pass: that in `PASSWORD_STORE_DIR`, else `~/.password-store`; nil if it is not a
  /// folder.
  package var passStore: String? {
    guard let path = text("PASSWORD_STORE_DIR") ?? home.map({ $0 + "/.password-store" }),
      UserFile.isFolder(path)
    else { return nil }
    return path
  }

  /// Returns the folder of a named store, or the argument itself if no store has this name.
  private func path(of name: String, _ configuration: () throws -> Configuration) throws -> String {
    guard !name.contains("/"), let folder = try configuration().text(.store(name)) else { return name }
    return try expanded(folder)
  }

  /// Replaces `~/` at the beginning of a path in the settings, which no shell expands.
  private func expanded(_ path: String) throws -> String {
    guard path.hasPrefix("~/") else { return path }
    guard let home else {
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set to an absolute path")
    }
    return home + path.dropFirst()
  }
}
