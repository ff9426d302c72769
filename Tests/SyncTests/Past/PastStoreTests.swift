import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

@Suite("A store as it was", .serialized)
struct PastStoreTests {
  /// Revisions, and the number of items at that commit, or nil if there is no such commit.
  static let names: [(String, Int?)] = [
    ("HEAD", 2), ("main", 2), ("HEAD~1", 1), ("HEAD~2", 0), ("old", 1), ("main@{1}", 1), ("HEAD~9", nil),
    ("", nil), ("nothing", nil), ("--all", nil), ("-q", nil), ("--git-dir", nil), ("HEAD..main", nil),
    ("HEAD:index", nil), ("HEAD^{tree}", nil), ("a\nHEAD", nil), ("--output=/tmp/keytree-never", nil),
  ]

  @Test(arguments: names)
  func `any revision that git knows leads to a commit, and no other text leads anywhere`(
    name: String, count: Int?
  ) throws {
    let world = try SyncWorld.withHistory()
    for server in ["a.example", "b.example"] {
      try world.add(server, "alice")
      try world.commit()
    }
    try world.git(["tag", "-a", "-m", "x", "old", "HEAD~1"])
    let repository = try world.requireRepository()
    let store = try HistoricalStore(at: name, in: repository)
    #expect(try store?.records().count == count)
    let digits = try world.git(["rev-parse", "HEAD~1"]).prefix(10)
    #expect(try HistoricalStore(at: String(digits), in: repository)?.records().count == 1)
  }

  @Test func `an item is that of the commit, and nothing else is released`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    let changed = try world.replaceSecret(item, "new")
    let renamed = try world.set(changed, [.account: "bob"])
    let repository = try world.requireRepository()
    let keyring = try world.store.open()
    for (name, record, text) in [
      ("HEAD~2", item, "secret"), ("HEAD~1", changed, "new"), ("HEAD", renamed, "new"),
    ] {
      let store = try #require(try HistoricalStore(at: name, in: repository))
      #expect(try store.records() == [record])
      #expect(try store.record(at: record.path) == record)
      let past = try store.item(at: record.path, in: keyring)
      #expect(past.record == record)
      let secret = try keyring.secret(of: past, matching: Query(predicates: [.id(record.id)]))
      let found = secret.text()
      #expect(found == text)
      #expect(throws: KeyringError.bindingMismatch(record.reference, .condition(.account))) {
        _ = try keyring.secret(of: past, matching: Query(predicates: [.equal(.account, "carol")]))
      }
    }
    let store = try #require(try HistoricalStore(at: "HEAD", in: repository))
    #expect(try store.record(at: item.path) == nil)
    #expect(throws: KeyringError.itemNotFound) { try store.item(at: item.path, in: keyring) }
  }

  @Test("an unsigned record is never released", arguments: ["label", "modified", "revision"])
  func forged(member: String) throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    var forged = item
    switch member {
    case "label": forged.attributes[.label] = "forged"
    case "modified": forged.modified = Timestamp(microseconds: item.modified.microseconds + 1)
    default: forged.revision = try #require(Revision(hex: String(repeating: "ab", count: 16)))
    }
    try world.write(try world.unsigned(forged, proofOf: item), nil, for: forged)
    try world.git(["commit", "-q", "-am", "forge"])
    let store = try #require(try HistoricalStore(at: "HEAD", in: try world.requireRepository()))
    let keyring = try world.store.open()
    #expect(throws: KeyringError.itemDamaged(item.reference, .badRecord(.notProven))) {
      try store.item(at: item.path, in: keyring)
    }
  }

  @Test func `deleted items are found by their former place, the last one first`() throws {
    let world = try SyncWorld.withHistory()
    let first = try world.add("a.example", "alice")
    let other = try world.add("b.example", "alice")
    let here = try world.add("c.example", "alice")
    try world.add("d.example", "alice")
    try world.commit()
    let changed = try world.replaceSecret(first)
    try world.delete(changed)
    let renamed = try world.set(other, [.server: "e.example"])
    try world.store.open().update(here, AttributeChanges(isLocal: true))
    try world.commit()
    let second = try world.add("a.example", "alice")
    try world.commit()
    try world.delete(second)
    let repository = try world.requireRepository()
    func removed(_ folders: String...) throws -> [ItemRecord] {
      try RemovedItems(below: folders, in: repository).records
    }
    #expect(try removed("items") == [second, here, other, changed])
    #expect(try removed("items/internet-password/a.example") == [second, changed])
    #expect(try removed("items/generic-password", "items/internet-password/b.example") == [other])
    #expect(try removed("items/internet-password/d.example").isEmpty)
    #expect(try removed("items/internet-password/e.example").isEmpty)
    try world.delete(renamed)
    #expect(try removed("items") == [renamed, second, here, other, changed])
  }

  @Test func `an item that was deleted on a branch is found once after the merge`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    try world.git(["checkout", "-q", "-b", "side"])
    try world.delete(item)
    try world.git(["checkout", "-q", "main"])
    try world.add("b.example", "bob")
    try world.commit()
    try world.git(["merge", "-q", "--no-edit", "side"])
    let repository = try world.requireRepository()
    #expect(try RemovedItems(below: ["items"], in: repository).records == [item])
    #expect(try world.changes(of: item) == [[.deleted], [.added]])
  }

  @Test func `an item cannot be brought back to a place that is taken`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("a.example", "alice")
    try world.commit()
    let keyring = try world.store.open()
    let store = try #require(try HistoricalStore(at: "HEAD", in: try world.requireRepository()))
    let past = try store.item(at: item.path, in: keyring)
    #expect(throws: KeyringError.itemExists(item.reference)) { try keyring.bringBack([past]) }
    // The item has another name now, with the same id.
    let renamed = try keyring.update(item, AttributeChanges(set: [.account: "bob"]))
    #expect(throws: KeyringError.itemExists(renamed.reference)) { try keyring.bringBack([past]) }
    try keyring.delete([renamed])
    #expect(try keyring.find(Query()).items.isEmpty)
    try keyring.bringBack([past])
    #expect(try keyring.find(Query()).items == [item])
    #expect(try keyring.text(of: item) == "secret")
  }
}
