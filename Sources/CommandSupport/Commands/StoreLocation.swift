package import Terminal

extension Environment {
  /// Returns the path of the store: the option, else `KEYTREE_STORE`, else `keytree` in the folder for data.
  ///
  /// - Parameter option: the value of `--store`.
  /// - Throws: `storeLocationUnknown` if no source names the path, `KEYTREE_STORE` is not UTF-8 or the option is empty.
  package func storePath(option: String?) throws -> String {
    if let option {
      guard !option.isEmpty else { throw CommandError.storeLocationUnknown(reason: "`--store` is empty") }
      return option
    }
    if let bytes = bytes("KEYTREE_STORE"), !bytes.isEmpty {
      guard let path = text("KEYTREE_STORE") else {
        throw CommandError.storeLocationUnknown(reason: "`KEYTREE_STORE` is not UTF-8")
      }
      return path
    }
    guard let dataHome else {
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set to an absolute path")
    }
    return dataHome + "/keytree"
  }
}
