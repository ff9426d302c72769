package import KeyringModel

/// Reads the key files of members, with a limit on their total size, because a policy can name thousands of people.
package struct KeyFileReader {
  private let tree: FileTree
  private var rest = StoreLayout.keyFilesLimit

  /// Creates a reader for a store.
  package init(_ tree: FileTree) { self.tree = tree }

  /// Returns the key file of a person, or nil if there is none.
  ///
  /// - Parameter person: The person's fingerprint.
  /// - Throws: A file error: `tooLarge` for the file, or for the folder `keys` if all files together exceed the limit.
  package mutating func read(_ person: Fingerprint) throws(FileError) -> [UInt8]? {
    let bytes = try tree.read(StoreLayout.keyFile(person), limit: StoreLayout.keyFileLimit)
    rest -= bytes?.count ?? 0
    guard rest >= 0 else {
      throw FileError("read", StoreLayout.keys, .tooLarge(limit: StoreLayout.keyFilesLimit))
    }
    return bytes
  }
}
