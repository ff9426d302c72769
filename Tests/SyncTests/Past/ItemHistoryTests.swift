import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Subprocess
import Sync
import TestSupport
import Testing

@Suite("The history of an item", .serialized)
struct ItemHistoryTests {
  /// Changes to an item, and their entries in its history.
  static let changes: [(String, @Sendable (SyncWorld, ItemRecord) throws -> Void, [ItemVersion.Change])] = [
    ("label", { try $0.set($1, [.label: "L"]) }, [.attributes([.label])]),
    (
      "several", { try $0.set($1, [.label: "L", "tag": "é\u{1B}", .comment: "c"]) },
      [.attributes([.comment, .label, "tag"])]
    ),
    ("secret", { try $0.replaceSecret($1) }, [.secret]),
    (
      "both",
      { world, item in
        let changes = AttributeChanges(set: [.label: "L"])
        try world.store.open().update(item, changes, secret: SecretBytes(text: "new"))
        try world.commit()
      }, [.secret, .attributes([.label])]
    ),
    ("re-encrypted", { try $0.sealAgain($1) }, [.resealed]),
    ("renamed", { try $0.set($1, [.account: "bob"]) }, [.renamed(from: path)]),
    ("deleted", { try $0.delete($1) }, [.deleted]),
    (
      "kept on this machine",
      { world, item in
        try world.store.open().update(item, AttributeChanges(isLocal: true))
        try world.commit()
      }, [.deleted]
    ),
  ]

  private static let path = sample(ItemPath(validating: "internet-password/a.example/alice"))

  private static func sample<T>(_ value: T?) -> T {
    guard let value else { preconditionFailure("a sample is valid") }
    return value
  }

  @Test("each kind of change is found in the records, and nothing is decrypted", arguments: changes.indices)
  func kinds(index: Int) throws {
    let (name, change, expected) = Self.changes[index]
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    try change(world, item)
    let before = world.store.engine.statistics.decryptions
    let history = try world.history(of: item)
    #expect(history.versions.map(\.changes) == [expected, [.added]], "\(name)")
    #expect(world.store.engine.statistics.decryptions == before)
    #expect(!history.isCutOff)
    let first = try #require(history.versions.last)
    #expect(first.record == item && first.previous == nil)
    #expect(history.versions[0].previous?.record == item)
    #expect(history.versions[0].previous?.commit == first.commit.name)
    #expect(first.commit.author == "Alice Example" && first.commit.mail == "alice@example.org")
  }

  @Test func `renames are followed through many records, from any name`() throws {
    let world = try SyncWorld.withHistory()
    let first = try world.add("a.example", "alice")
    try world.commit()
    var item = first
    for name in ["bob", "carol", "dave"] { item = try world.set(item, [.account: .string(name)]) }
    item = try world.set(item, [.server: "b.example", .label: "L"])
    #expect(Set([first, item].map(\.path.shard)).count == 2)
    let names = ["bob", "carol", "dave"].map { "internet-password/a.example/\($0)" }
    let expected: [[ItemVersion.Change]] =
      [[.renamed(from: Self.sample(ItemPath(validating: names[2]))), .attributes([.label])]]
      + [names[1], names[0]].map { [.renamed(from: Self.sample(ItemPath(validating: $0)))] }
      + [[.renamed(from: Self.path)], [.added]]
    #expect(try world.changes(of: item) == expected)
    #expect(try world.changes(of: first) == expected)
  }

  @Test func `a move to another group is not a rename`() throws {
    let old = Sample.record([.server: "a.example", .account: "alice"])
    var new = old
    new.group = "team"
    new.sealed = ContentDigest(of: [1])
    #expect(ItemVersion.Change.between(old, new) == [.moved(fromGroup: "default")])
    new.attributes[.account] = "bob"
    #expect(
      ItemVersion.Change.between(old, new) == [.renamed(from: old.path), .moved(fromGroup: "default")])
  }

  @Test func `a change on a branch is in the history after the merge, and the merge itself is not a version`()
    throws
  {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    try world.git(["checkout", "-q", "-b", "side"])
    try world.replaceSecret(item)
    try world.git(["checkout", "-q", "main"])
    try world.add("b.example", "bob")
    try world.commit()
    try world.git(["merge", "-q", "--no-edit", "side"])
    #expect(try world.changes(of: item) == [[.secret], [.added]])
    // A merge that takes nothing from a branch still keeps its versions in the history.
    try world.git(["checkout", "-q", "-b", "lost"])
    try world.set(item, [.label: "lost"])
    try world.git(["checkout", "-q", "main"])
    try world.git(["merge", "-q", "--no-edit", "-s", "ours", "lost"])
    #expect(try world.changes(of: item) == [[.attributes([.label])], [.secret], [.added]])
  }

  @Test func `a merge with a new result is a version`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    try world.git(["checkout", "-q", "-b", "side"])
    try world.replaceSecret(item)
    try world.git(["checkout", "-q", "main"])
    try world.set(item, [.label: "L"])
    try world.git(["merge", "-q", "--no-commit", "-s", "ours", "side"])
    var merged = try #require(try world.store.open().find(Query(predicates: [.id(item.id)])).items.first)
    merged = try world.store.open().update(
      merged, AttributeChanges(set: [.comment: "merged"]), secret: SecretBytes(text: "merged"))
    try world.git(["add", "-A"])
    try world.git(["commit", "-q", "-m", "merge"])
    let versions = try world.history(of: item).versions
    #expect(versions.first?.changes == [.secret, .attributes([.comment])])
    #expect(versions.first?.record == merged)
    #expect(versions.count == 4)
  }

  @Test func `an item that was added again under its name is another item`() throws {
    let world = try SyncWorld.withHistory()
    let first = try world.add("a.example", "alice")
    try world.commit()
    try world.delete(first)
    let second = try world.add("a.example", "alice")
    try world.commit()
    #expect(first.path == second.path)
    #expect(try world.changes(of: first) == [[.deleted], [.added]])
    #expect(try world.changes(of: second) == [[.added]])
  }

  @Test func `an item that is brought back is the same item`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    let file = StoreLayout.itemFile(item.path, isLocal: false)
    let message = try world.read(file)
    try world.delete(item)
    let before = world.store.engine.statistics
    let keyring = try world.store.open()
    let store = try #require(try HistoricalStore(at: "HEAD~1", in: try world.requireRepository()))
    try keyring.bringBack([try store.item(at: item.path, in: keyring)])
    #expect(world.store.engine.statistics == before, "the files come back with their original signatures")
    #expect(try world.commit() == .committed(subject: "bring back internet-password/a.example/alice"))
    #expect(try world.changes(of: item) == [[.broughtBack], [.deleted], [.added]])
    #expect(try world.read(file) == message)
    #expect(try world.store.open().find(Query()).items == [item])
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test func `a record that is signed again is not a version, and an unreadable one is not a deletion`()
    throws
  {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    let record = world.file(StoreLayout.recordFile(item.path, isLocal: false))
    try Data(try world.store.open().sign([item])[0].bytes).write(to: record)
    try world.git(["commit", "-q", "-am", "sign anew"])
    let good = try Data(contentsOf: record)
    try Data("{\"id\":\"\(item.id.hex)\",\n".utf8).write(to: record)
    try world.git(["commit", "-q", "-am", "damage"])
    try good.write(to: record)
    try world.git(["commit", "-q", "-am", "repair"])
    #expect(try world.changes(of: item) == [[.added]])
  }

  @Test func `names and times of authors are returned unchanged`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    let name = "rm\u{1B}]0;x\u{7}\u{202E} -rf"
    try world.git([
      "-c", "user.name=\(name)", "commit", "-q", "--amend", "--no-edit", "--reset-author",
      "--date=@99999999999 +0000",
    ])
    let version = try #require(try world.history(of: item).versions.first)
    #expect(version.commit.author == name)
    #expect(version.commit.time == Timestamp(microseconds: 99_999_999_999 * 1_000_000))
  }

  /// Other kinds of repositories.
  @Test("every kind of repository has a history", arguments: ["sha256", "folder", "worktree"])
  func repositories(kind: String) throws {
    let world: SyncWorld
    switch kind {
    case "sha256": world = try SyncWorld.withHistory("--object-format=sha256")
    case "folder":
      world = try SyncWorld()
      let top = world.store.folder.path
      try world.git(["init", "-q", "-b", "main"], in: top)
      try world.git(["add", "store/policy.json"], in: top)
    default:
      world = try SyncWorld()
      let main = "\(world.path)/../main"
      try FileManager.default.createDirectory(atPath: main, withIntermediateDirectories: false)
      try world.git(["init", "-q", "-b", "main"], in: main)
      try world.git(["commit", "-q", "--allow-empty", "-m", "first"], in: main)
      try world.git(["worktree", "add", "-q", "../tree"], in: main)
      try FileManager.default.moveItem(atPath: "\(world.path)/../tree/.git", toPath: "\(world.path)/.git")
      try world.git(["worktree", "repair", world.path], in: main)
    }
    let item = try world.add("a.example", "alice")
    try world.commit()
    let renamed = try world.set(item, [.account: "bob"])
    try world.delete(renamed)
    let repository = try world.requireRepository()
    #expect(try world.changes(of: item) == [[.deleted], [.renamed(from: item.path)], [.added]])
    let removed = try RemovedItems(below: ["items/internet-password/a.example"], in: repository)
    #expect(removed.records == [renamed, item])
    let store = try #require(try HistoricalStore(at: "HEAD~2", in: repository))
    #expect(try store.records() == [item])
    #expect(try store.item(at: item.path, in: try world.store.open()).record == item)
  }

  @Test func `a truncated history is reported as such`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    try world.add("b.example", "bob")
    try world.commit()
    let changed = try world.set(item, [.label: "L"])
    let clone = "\(world.store.folder.path)/clone"
    try world.git(["clone", "-q", "--depth=2", "file://\(world.path)", clone])
    let repository = try #require(try Repository.find(store: clone, git: world.makeGit))
    let history = try ItemHistory(of: item.id, from: item.path, in: repository)
    #expect(history.versions.map(\.changes) == [[.attributes([.label])], [.alreadyThere]])
    #expect(history.versions.map(\.record) == [changed, item])
    #expect(history.isCutOff)
  }

  @Test func `a store without a commit has no history`() throws {
    let world = try SyncWorld()
    try world.git(["init", "-q"])
    let item = try world.add("a.example", "alice")
    let repository = try world.requireRepository()
    #expect(try world.history(of: item).versions.isEmpty)
    #expect(try RemovedItems(below: ["items"], in: repository).records.isEmpty)
    #expect(try HistoricalStore(at: "HEAD", in: repository)?.commit == nil)
  }

  @Test func `thousands of commits of other items start no further process`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    try world.replaceSecret(item)
    let gone = try world.add("gone.example", "alice")
    try world.commit()
    try world.delete(gone)
    func starts() throws -> [Int] {
      let (repository, starts) = try world.countedRepository()
      let before = try starts()
      #expect(try ItemHistory(of: item.id, from: item.path, in: repository).versions.count == 2)
      let between = try starts()
      #expect(
        try RemovedItems(below: ["items/internet-password/gone.example"], in: repository).records == [gone])
      return [between - before, try starts() - between]
    }
    let before = try starts()
    try world.makeCommits(2000, butIn: [item.path.shard, gone.path.shard])
    #expect(try world.git(["rev-list", "--count", "HEAD"]) == "2005\n")
    #expect(try starts() == before)
    #expect(before.allSatisfy { $0 <= 7 }, "\(before)")
  }
}

extension SyncWorld {
  /// Creates commits that each change an item and a shard, but none of the given shards.
  func makeCommits(_ count: Int, butIn shards: Set<UInt8>) throws {
    let numbers = (UInt8.min...UInt8.max).filter { !shards.contains($0) }
    var stream = "feature done\n"
    for commit in 0..<count {
      let file = StoreLayout.shardFile(numbers[commit % numbers.count], isLocal: false)
      let line = "{\"n\":\(commit)}\n"
      stream += "commit HEAD\ncommitter X <x@example.org> \(1_800_000_000 + commit) +0000\ndata 2\nx\n\n"
      if commit == 0 { stream += "from HEAD^0\n" }
      stream += "M 100644 inline \(file)\ndata \(line.utf8.count)\n\(line)\n"
      stream += "M 100644 inline items/generic-password/h\(commit % 97)/a.json\ndata 1\nx\n\n"
    }
    try git(["fast-import", "--quiet"], input: stream + "done\n")
  }
}
