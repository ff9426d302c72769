internal import Glibc
internal import Keyring

extension Repository {
  /// The most packs that stay as they are. Git itself considers more than 50 too many (`gc.autoPackLimit`).
  static let packLimit = 40
  /// How long git may take to join packs: others cannot commit meanwhile.
  private static let packingTimeout = Duration.seconds(60)

  /// Whether the history lies in more packs than ``packLimit``: every commit makes one, and git looks for an object in
  /// all of them.
  ///
  /// - Throws: `FileError` if the folder of the packs cannot be read.
  var hasManyPacks: Bool {
    get throws(FileError) {
      let names = Set(try FileTree(at: commonFolder).list("objects/pack"))
      // In a partial clone git marks packs with `.promisor`, and cannot join those. It leaves packs alone that somebody
      // keeps, and those with the objects that `git gc` has set aside.
      if names.contains(where: { $0.hasSuffix(".promisor") }) { return false }
      let packs = names.count { name in
        guard name.hasPrefix("pack-"), name.hasSuffix(".pack") else { return false }
        let base = name.dropLast(".pack".count)
        return !names.contains("\(base).keep") && !names.contains("\(base).mtimes")
      }
      return packs > Self.packLimit
    }
  }

  /// Joins small packs and loose objects into one pack, and leaves larger packs alone, so that the work does not grow
  /// with the history. Every object is kept, also one that no commit needs.
  ///
  /// - Parameter attributes: The absolute path of a file with ``packingAttributes``.
  /// - Throws: As `Git.run`.
  func joinPacks(attributes: String) throws(GitError) {
    // Objects that are borrowed from another repository are not to be copied.
    if Self.exists("\(commonFolder)/objects/info/alternates") { return }
    let start = time(nil)
    var git = git
    git.timeout = Self.packingTimeout
    try git.run([
      "-c", "core.attributesFile=\(attributes)", "repack", "--geometric=2", "-d", "-n", "--quiet",
      "--no-write-bitmap-index",
    ])
    synchronizeFolders(changedSince: start)
  }

  /// The attributes with which packs are joined.
  ///
  /// The earlier version of an index shard is seldom among the small packs. Git would store the shard as a difference
  /// from another shard, keep that in `git gc`, and never find that the earlier version is much closer. Versions of a
  /// shard that one pack stores whole are not compared by `git gc` either; only `git repack -a -d -f` compares all.
  static let packingAttributes = "**/\(StoreLayout.index)/*.jsonl -delta\n"
}
