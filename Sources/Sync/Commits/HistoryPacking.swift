internal import Glibc
internal import Keyring

extension Repository {
  /// The most packs that stay as they are. Git itself considers more than 50 too many (`gc.autoPackLimit`).
  static let packLimit = 40
  /// The time that git may take to join packs. Nobody else can commit during that time.
  private static let packingTimeout = Duration.seconds(60)

  /// The fewest objects outside the largest pack for which everything is packed anew: those of about 500 commits.
  static let looseLimit = 5_000
  /// The largest repository that is packed anew, in objects; git needs 10 to 30 seconds for it.
  static let repackLimit = 200_000

  /// A Boolean value that indicates whether the history has more packs than ``packLimit``. Every commit makes
  /// a pack, and git searches all of them for an object.
  ///
  /// - Throws: `FileError` if the folder of the packs cannot be read.
  var hasManyPacks: Bool {
    get throws { try packs().count > Self.packLimit }
  }

  /// A Boolean value that indicates whether it pays to repack everything: the objects outside of the largest
  /// pack are at least an eighth of those in it. So the work for each commit does not grow with the history.
  ///
  /// - Throws: `FileError` if the folder of the packs cannot be read.
  var deservesRepacking: Bool {
    get throws {
      let tree = try FileTree(at: commonFolder)
      var counts: [Int] = []
      for pack in try packs() {
        // The index of a pack has a head and a table of 1,032 bytes, two hashes of 20 bytes, and 28 bytes for each
        // object; gitformat-pack(5). With SHA-256 it is larger, and the estimate higher.
        let size = try tree.status("\(Self.packFolder)/\(pack).idx")?.size ?? 0
        counts.append(max(0, size - 1_072) / 28)
      }
      let total = counts.reduce(0, +)
      let largest = counts.max() ?? 0
      return total <= Self.repackLimit && total - largest >= max(Self.looseLimit, largest / 8)
    }
  }

  private static let packFolder = "objects/pack"

  /// The names, without an ending, of the packs that git may replace; none if objects are borrowed from another
  /// repository, which are not to be copied.
  private func packs() throws -> [String] {
    if Self.exists("\(commonFolder)/objects/info/alternates") { return [] }
    let names = Set(try FileTree(at: commonFolder).list(Self.packFolder))
    // In a partial clone git marks packs with `.promisor`, and cannot join those. It leaves packs alone that somebody
    // keeps, and those with the objects that `git gc` has set aside.
    if names.contains(where: { $0.hasSuffix(".promisor") }) { return [] }
    return names.compactMap { name in
      guard name.hasPrefix("pack-"), name.hasSuffix(".pack") else { return nil }
      let base = String(name.dropLast(".pack".count))
      return names.contains("\(base).keep") || names.contains("\(base).mtimes") ? nil : base
    }
  }

  /// Joins small packs and loose objects into one pack, and leaves larger packs alone, so that the work does not grow
  /// with the history. Every object is kept, also one that no commit needs.
  ///
  /// - Parameter attributes: The absolute path of a file with ``packingAttributes``.
  /// - Throws: As `Git.run`.
  func joinPacks(attributes: String) throws {
    try repack(settings: ["-c", "core.attributesFile=\(attributes)"], options: ["--geometric=2"])
  }

  /// Packs everything anew into one pack, with every object as a difference from the one that is closest to it. Every
  /// object is kept, also one that no commit needs.
  ///
  /// - Throws: As `Git.run`.
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

  /// The attributes with which packs are joined.
  ///
  /// The earlier version of an index shard is seldom among the small packs. Git would store the shard as a difference
  /// from another shard, which is about as large as the shard itself, and keep that in `git gc`. ``repackAll()`` finds
  /// the earlier version.
  static let packingAttributes = "**/\(StoreLayout.index)/*.jsonl -delta\n"
}
