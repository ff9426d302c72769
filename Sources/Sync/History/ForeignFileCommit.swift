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
    let content = try hash().blobName(of: bytes)
    guard try ObjectReader(git: git).names(of: [place])[place] == content else { return nil }
    // The merge that kept the file at a second path is not its origin.
    if let first = file.digest.flatMap({ SecondPath.first(of: file.path, $0) }) {
      let paths = [file.path, first].map { prefix + $0 }
      if let commit = try HistoricalCommit.last(changing: content, at: paths, in: git) { return commit }
    }
    return try HistoricalCommit.last(touching: [prefix + file.path], in: git)
  }
}
