import Foundation
@testable import Keyring
import TestSupport
import Testing

@testable import Sync

@Suite(.serialized, .slow) struct HistoryPackingTests {
  private func packs(_ world: SyncWorld) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(world.path)/.git/objects/pack")
      .filter { $0.hasSuffix(".pack") }
  }

  private func committer(_ world: SyncWorld) throws -> Committer {
    Committer(
      repository: try #require(try world.repository()), tree: try FileTree(at: world.path), timeout: 60,
      author: { nil })
  }

  @Test func `many packs are joined, and every object is kept`() throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let committer = try committer(world)
    #expect(try packs(world).count == Repository.packLimit + 1, "the first commit, and one for each item")
    let loose = try world.git(["hash-object", "-w", "--stdin"], input: "needed by no commit")
      .trimmingCharacters(in: .newlines)
    let objects = try world.lines("cat-file", "--batch-all-objects", "--batch-check")
    try committer.packHistory()
    #expect(try packs(world).count <= 2)
    #expect(try world.lines("cat-file", "--batch-all-objects", "--batch-check") == objects)
    #expect(try world.git(["cat-file", "-p", loose]) == "needed by no commit")
    #expect(try world.git(["fsck", "--strict", "--no-dangling"]) == "")
  }

  /// `git gc` reuses the deltas of a pack. A delta against another shard would prevent a better one.
  @Test func `a joined pack has no delta of an index shard against another shard`() throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<5 * Repository.packLimit {
      try world.add("a.example", "person-\(number)")
      if number >= 4 * Repository.packLimit { try world.commit() }
    }
    try committer(world).packHistory()
    let shards = try world.lines("ls-tree", "-r", "--format=%(objectname)", "HEAD", "index")
    let bases = try world.git(
      ["cat-file", "--batch-check=%(deltabase)"], input: shards.joined(separator: "\n") + "\n")
    #expect(shards.count == 16)
    #expect(Set(bases.split(separator: "\n")) == [Substring(String(repeating: "0", count: 40))])
    #expect(try FileTree(at: world.path).status("\(StoreLayout.work)/packing-attributes") == nil)
  }

  private func addBlobs(_ count: Int, named name: String, to world: SyncWorld) throws {
    let blobs = (0..<count).map { number in
      let text = "\(name) \(number)"
      return "blob\ndata \(text.utf8.count)\n\(text)\n"
    }
    try world.git(["-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"], input: blobs.joined())
  }

  @Test func `everything is repacked when many objects are outside the largest pack`() throws {
    let world = try SyncWorld.withHistory()
    try addBlobs(Repository.looseLimit + 1, named: "large", to: world)
    for number in 0..<Repository.packLimit {
      try world.add("a.example", "person-\(number % 3)-\(number)")
      try world.commit()
    }
    let committer = try committer(world)
    var announcements = 0
    try committer.packHistory { announcements += 1 }
    #expect(announcements == 0, "only the largest pack is large")
    #expect(try packs(world).count > 1)
    try addBlobs(Repository.looseLimit, named: "other", to: world)
    for number in 0..<Repository.packLimit {
      try world.add("b.example", "person-\(number)")
      try world.commit()
    }
    let objects = try world.lines("cat-file", "--batch-all-objects", "--batch-check")
    try committer.packHistory { announcements += 1 }
    #expect(announcements == 1)
    #expect(try packs(world).count == 1)
    #expect(try world.lines("cat-file", "--batch-all-objects", "--batch-check") == objects)
    #expect(try world.git(["fsck", "--strict", "--no-dangling"]) == "")
    let changes = Dictionary(
      grouping: try world.lines("log", "--format=", "--name-only", "--", "index"), by: { $0 })
    let shard = try #require(changes.max { $0.value.count < $1.value.count }).key
    let versions = try world.lines("log", "--format=", "--raw", "--no-abbrev", "--", shard)
      .map { String($0.split(separator: " ")[3]) }
    let bases = try world.git(
      ["cat-file", "--batch-check=%(deltabase)"], input: versions.joined(separator: "\n") + "\n"
    ).split(separator: "\n").map(String.init)
    #expect(versions.count > 2)
    let own = bases.filter(versions.contains).count
    #expect(own == versions.count - 1, "all but the newest are deltas against another version of the shard")
  }

  @Test(arguments: [
    ([10_000, 4_000, 999], false), ([10_000, 4_000, 1_000], true), ([80_000, 9_999], false),
    ([80_000, 10_000], true), ([190_000, 10_000], false), ([150_000, 50_000], true),
    ([150_000, 50_001], false), ([9_000], false), ([], false),
  ])
  func `a history is repacked if an eighth of it would gain, and up to a size`(
    objects: [Int], isWorth: Bool
  ) throws {
    let world = try SyncWorld.withHistory()
    let folder = "\(world.path)/.git/objects/pack"
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for (number, count) in objects.enumerated() {
      #expect(FileManager.default.createFile(atPath: "\(folder)/pack-\(number).pack", contents: nil))
      #expect(FileManager.default.createFile(atPath: "\(folder)/pack-\(number).idx", contents: nil))
      let index = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/pack-\(number).idx"))
      try index.truncate(atOffset: UInt64(1_072 + 28 * count))
      try index.close()
    }
    let repository = try #require(try world.repository())
    #expect(try repository.deservesRepacking == isWorth)
  }

  @Test func `few packs, and the packs of a repository that borrows objects, are kept`() throws {
    let world = try SyncWorld.withHistory()
    let before = try packs(world)
    try committer(world).packHistory()
    #expect(try packs(world) == before)
    let lender = "\(world.path)/.git/lender"
    try world.git(["clone", "-q", "--bare", ".", lender])
    try Data("\(lender)/objects\n".utf8).write(
      to: URL(fileURLWithPath: "\(world.path)/.git/objects/info/alternates"))
    for number in 0...Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let many = try packs(world)
    try committer(world).packHistory()
    #expect(try packs(world) == many && many.count > Repository.packLimit)
  }

  @Test func `a commit of one object is a pack, too`() throws {
    let world = try SyncWorld.withHistory()
    let before = try packs(world).count
    try world.add("a.example", "x")
    try world.commit()
    // The same files again, so only the commit is new.
    try world.makeGit(world.path).run(
      CommitContent.importCommand,
      input: CommitContent().stream(message: "x", committer: "P <p@example.org> 1 +0000", isFirst: false))
    #expect(try packs(world).count == before + 2)
    #expect(try world.lines("count-objects") == ["0 objects, 0 kilobytes"])
  }

  @Test(arguments: ["promisor", "keep", "mtimes"])
  func `packs that git does not join are not counted`(mark: String) throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let repository = try #require(try world.repository())
    #expect(try repository.hasManyPacks)
    let pack = try #require(try packs(world).first)
    let file = "\(world.path)/.git/objects/pack/\(pack.dropLast("pack".count))\(mark)"
    #expect(FileManager.default.createFile(atPath: file, contents: Data()))
    #expect(try !repository.hasManyPacks)
  }

  @Test func `git's error is reported if packs cannot be joined, and the history is kept`() throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let folder = "\(world.path)/.git/objects/pack"
    // Git may skip the largest pack.
    let sizes = try packs(world).map { pack in
      (try FileManager.default.attributesOfItem(atPath: "\(folder)/\(pack)")[.size] as? Int ?? 0, pack)
    }
    let damaged = try #require(sizes.min { $0 < $1 }).1
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(damaged)")
    let whole = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(damaged)"))
    try whole.dropLast(40).write(to: URL(fileURLWithPath: "\(folder)/\(damaged)"))
    #expect(throws: GitError.self) { try committer(world).packHistory() }
    try whole.write(to: URL(fileURLWithPath: "\(folder)/\(damaged)"))
    #expect(try packs(world).count == Repository.packLimit + 1)
    #expect(try world.git(["fsck", "--strict"]) == "")
  }
}
