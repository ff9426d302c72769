internal import Keyring
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
    let name: String?
    if let option {
      guard !option.isEmpty else { throw CommandError.storeLocationUnknown(reason: "`--store` is empty") }
      name = option
    } else if let bytes = bytes("KEYTREE_STORE"), !bytes.isEmpty {
      guard let text = text("KEYTREE_STORE") else {
        throw CommandError.storeLocationUnknown(reason: "`KEYTREE_STORE` is not UTF-8")
      }
      name = text
    } else {
      name = nil
    }
    let path = try StoreLocation(home: home, dataHome: dataHome).path(of: name) { setting in
      switch setting {
      case .store(let name): try configuration().text(.store(name))
      case .defaultStore: try configuration().text(.defaultStore)
      }
    }
    guard let path else {
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set to an absolute path")
    }
    return path
  }

  /// The folder of the user's store of pass: that in `PASSWORD_STORE_DIR`, else `~/.password-store`; nil if it is not a
  /// folder.
  package var passStore: String? {
    guard let path = text("PASSWORD_STORE_DIR") ?? home.map({ $0 + "/.password-store" }),
      UserFile.isFolder(path)
    else { return nil }
    return path
  }
}
