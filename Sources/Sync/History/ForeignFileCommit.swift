package import Keyring
internal import KeyringModel

extension Repository {
  /// Returns the commit that added a file of another program or gave it its current content.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - keyring: The store.
  /// - Returns: The commit; nil if the current content is not committed. Its author and its time are not verified.
  /// - Throws: The errors of `Git.run`; a file error.
  package func commit(of file: ForeignFile, in keyring: Keyring) throws -> HistoricalCommit? {
    guard let bytes = try keyring.message(of: file) else { return nil }
    let place = "HEAD:\(prefix)\(file.path)"
    guard try ObjectReader(git: git).names(of: [place])[place] == hash().blobName(of: bytes) else {
      return nil
    }
    return try HistoricalCommit.last(touching: [prefix + file.path], in: git)
  }
}
