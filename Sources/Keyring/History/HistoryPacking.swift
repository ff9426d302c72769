internal import Git
internal import Glibc

extension Repository {
  /// The number of packs above which they are joined. Git itself considers more than 50 too many (`gc.autoPackLimit`).
  static let packLimit = 40
  /// The time limit for joining packs. No other process can commit during that time.
  private static let packingTimeout = Duration.seconds(60)

  /// The minimum number of objects outside the largest pack for which everything is repacked: those of about 500
  /// commits.
  static let looseLimit = 5_000
  /// The largest repository that is repacked, in objects. Git needs 10 to 30 seconds for it.
  static let repackLimit = 200_000

  /// True if the history has more packs than ``packLimit``. Every commit creates a pack, and git searches all of them
  /// for an object.
  ///
  /// - Throws: `FileError` if the folder of the packs cannot be read.
  var hasManyPacks: Bool {
    get throws { try packs().count > Self.packLimit }
  }

  /// True if repacking everything is worth the time: the number of objects outside the largest pack is at least an
  /// eighth of the number in it. With this ratio the work per commit does not grow with the history.
  ///
  /// - Throws: `FileError` if the folder of the packs cannot be read.
  var deservesRepacking: Bool {
    get throws {
      let tree = try FileTree(at: commonFolder)
      var counts: [Int] = []
      for pack in try packs() {
        // A pack index has a header and a table of 1,032 bytes, two hashes of 20 bytes, and 28 bytes for each object
        // (gitformat-pack(5)). With SHA-256 it is larger, so the estimate is too high.
        let size = try tree.status("\(Self.packFolder)/\(pack).idx")?.size ?? 0
        counts.append(max(0, size - 1_072) / 28)
      }
      let total = counts.reduce(0, +)
      let largest = counts.max() ?? 0
      return total <= Self.repackLimit && total - largest >= max(Self.looseLimit, largest / 8)
    }
  }

  private static let packFolder = "objects/pack"

  /// Returns the base names of the packs that git may replace. Returns none if the repository borrows objects from
  /// another one, because those must not be copied.
  private func packs() throws -> [String] {
    if Self.exists("\(commonFolder)/objects/info/alternates") { return [] }
    let names = Set(try FileTree(at: commonFolder).list(Self.packFolder))
    // In a partial clone git marks packs with `.promisor` and cannot join them. It does not touch packs with a `.keep`
    // file, and those with unreachable objects that `git gc` has moved into a cruft pack (`.mtimes`).
    if names.contains(where: { $0.hasSuffix(".promisor") }) { return [] }
    return names.compactMap { name in
      guard name.hasPrefix("pack-"), name.hasSuffix(".pack") else { return nil }
      let base = String(name.dropLast(".pack".count))
      return names.contains("\(base).keep") || names.contains("\(base).mtimes") ? nil : base
    }
  }

  /// Joins small packs and loose objects into one pack, and does not touch larger packs, so that the work does not grow
  /// with the history. All objects are kept, including unreachable ones.
  ///
  /// - Parameter attributes: The absolute path of a file with ``packingAttributes``.
  /// - Throws: The errors of `Git.run`.
  func joinPacks(attributes: String) throws {
    try repack(settings: ["-c", "core.attributesFile=\(attributes)"], options: ["--geometric=2"])
  }

  /// Repacks everything into one pack and computes all deltas again. All objects are kept, including unreachable ones.
  ///
  /// - Throws: The errors of `Git.run`.
  func repackAll() throws {
    try repack(options: ["-a", "--keep-unreachable", "-f"])
  }

  private func repack(settings: [String] = [], options: [String]) throws {
    let start = time(nil)
    var git = git
    git.timeout = Self.packingTimeout
    try git.run(settings + ["repack"] + options + ["-d", "-n", "--quiet", "--no-write-bitmap-index"])
    synchronizeFolders(changedSince: start)
  }

  /// The attributes that are used when packs are joined.
  ///
  /// The small packs seldom contain the previous version of an index shard. Git would store the shard as a delta
  /// against another shard, which is about as large as the shard itself, and `git gc` would keep that delta.
  /// ``repackAll()`` finds the previous version.
  static let packingAttributes = "**/\(StoreLayout.index)/*.jsonl -delta\n"
}
