internal import Keyring

extension Repository {
  /// The most packs that stay as they are. Git itself considers more than 50 too many (`gc.autoPackLimit`).
  static let packLimit = 40

  /// Whether the history lies in more packs than ``packLimit``: every commit makes one, and git looks for an object in
  /// all of them.
  ///
  /// - Throws: `FileError` if the folder of the packs cannot be read.
  var hasManyPacks: Bool {
    get throws(FileError) {
      let names = try FileTree(at: commonFolder).list("objects/pack")
      return names.count { $0.hasSuffix(".pack") } > Self.packLimit
    }
  }

  /// Joins small packs and loose objects into one pack, and leaves larger packs alone, so that the work does not grow
  /// with the history. Every object is kept, also one that no commit needs.
  ///
  /// - Throws: As `Git.run`.
  func joinPacks() throws(GitError) {
    // Packs of another repository, which this one borrows, are not ours to copy.
    if Self.exists("\(commonFolder)/objects/info/alternates") { return }
    try git.run(["repack", "--geometric=2", "-d", "-n", "--quiet", "--no-write-bitmap-index"])
  }
}
