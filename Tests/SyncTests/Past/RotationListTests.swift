import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Sync
import TestSupport
import Testing

/// Tests the list of people who could ever read a secret that is still in use.
@Suite(.serialized) struct RotationListTests {
  static let bob = EngineDouble.fingerprint(2)
  static let carol = EngineDouble.fingerprint(3)

  /// Creates a store that Alice and Bob share, with a history.
  private func shared(_ groups: [String] = ["default", "ops"]) throws -> SyncWorld {
    let world = try SyncWorld.withHistory()
    for group in groups { try world.changePolicy { try world.store.join(Self.bob, group) } }
    return world
  }

  private func add(_ world: SyncWorld, _ server: String, group: String = "default") throws -> ItemRecord {
    var item = NewItem.login(server, "alice")
    item.group = group
    let secret = SecretBytes(text: "s")
    let record = try world.store.open().add(item, secret: secret)
    try world.commit()
    return record
  }

  @Test func `an entry opens when a person leaves, names them, and closes with the next secret`()
    throws
  {
    let world = try shared()
    let record = try add(world, "a.example")
    #expect(try world.rotationList().entries.isEmpty)
    try world.changePolicy { try world.store.remove(Self.bob) }
    let list = try world.rotationList()
    let removed = try #require(try world.store.open().policy.people[Self.bob]?.removed)
    #expect(list.isComplete)
    #expect(list.entries.map(\.record) == [record] && list.entries.map(\.state) == [.open])
    #expect(list.entries.first?.readers.map(\.person) == [Self.bob])
    #expect(list.entries.first?.readers.map(\.reason) == [.left(removed)])
    // Re-encrypted without a new secret: a person who has read it still knows it.
    try world.sealAgain(record)
    #expect(try world.rotationList().openReaders == [record.id.hex: [Self.bob.text]])
    let now = try #require(try world.store.open().find(Query()).items.first)
    try world.replaceSecret(now)
    #expect(try world.rotationList().entries.isEmpty)
  }

  @Test func `a secret that moved to another group is open for those who are not in it`() throws {
    let world = try shared(["default"])
    try world.changePolicy { try world.store.join(Self.carol, "ops") }
    let record = try add(world, "a.example")
    let moved = try world.set(record, Attributes(), group: "ops")
    let entry = try #require(try world.rotationList().entries.first)
    #expect(entry.record == moved && entry.readers.map(\.reason) == [.notInGroup])
    #expect(entry.names == [Self.bob.text])
    let back = try world.set(moved, Attributes(), group: "default")
    // Carol could read it, too, in between.
    #expect(try world.rotationList().openReaders == [back.id.hex: [Self.carol.text]])
  }

  @Test func `uncommitted items are listed, and items that were always local are not`() throws {
    let world = try shared()
    let record = try world.add("a.example", "alice")
    try world.add("b.example", "alice", isLocal: true)
    try world.store.remove(Self.bob)
    #expect(try world.rotationList().openReaders == [record.id.hex: [Self.bob.text]])
    try world.commit()
    // An item that is local from now on was shared before.
    let local = try world.store.open().update(record, AttributeChanges(isLocal: true))
    try world.commit()
    #expect(try world.rotationList().openReaders == [local.id.hex: [Self.bob.text]])
  }

  @Test func `deleted items are listed separately, and a copy has the readers of its original`() throws {
    let world = try shared()
    let record = try add(world, "a.example")
    let copied = try add(world, "b.example")
    let copy = try world.store.open().duplicate(copied, as: .login("c.example", "alice"))
    #expect(copy.revision == copied.revision && copy.secretModified == copied.secretModified)
    try world.commit()
    try world.changePolicy { try world.store.remove(Self.bob) }
    #expect(
      try world.rotationList().openReaders.keys.sorted() == [record, copied, copy].map(\.id.hex).sorted())
    try world.delete(record)
    try world.delete(copied)
    let list = try world.rotationList()
    #expect(list.entries(.open).map(\.record.id) == [copy.id])
    #expect(list.entries(.deleted).map(\.record) == [record], "the other secret is still in use in the copy")
  }

  @Test func `a risk that an admin has accepted stays accepted until the secret changes`() throws {
    let world = try shared()
    let record = try add(world, "a.example")
    try world.changePolicy { try world.store.remove(Self.bob) }
    let risk = AcceptedRisk(
      revision: record.revision, reason: "read only", by: world.store.owner, at: world.store.host.clock())
    try world.changePolicy { try world.store.changePolicy { $0.accepted[record.id] = risk } }
    let list = try world.rotationList()
    #expect(list.entries.map(\.state) == [.accepted] && list.entries.map(\.risk) == [risk])
    // A new secret that another person could read is a new risk.
    try world.changePolicy { try world.store.join(Self.carol, "default") }
    try world.replaceSecret(record)
    try world.changePolicy { try world.store.remove(Self.carol) }
    #expect(try world.rotationList().entries.map(\.state) == [.open])
  }

  @Test func `an unknown key is listed by its id, and a replaced key file of a former member names no one`()
    throws
  {
    let world = try shared()
    let record = try add(world, "a.example")
    try world.changePolicy { try world.store.remove(Self.bob) }
    let file = "\(world.path)/\(StoreLayout.keyFile(Self.bob))"
    let kept = try Data(contentsOf: URL(fileURLWithPath: file))
    try world.changePolicy {
      try world.store.changePolicy { $0.people[Self.bob]?.key = ContentDigest(of: [UInt8](kept)) }
    }
    #expect(try world.rotationList().openReaders == [record.id.hex: [Self.bob.text]])
    let id = try #require(KeyID(String(Self.bob.text.suffix(16))))
    let reader = RotationList.Reader(person: nil, keys: [id], reason: .unknownKey)
    let readers = try world.rotation().readers
    let policy = try world.store.open().policy
    for owners in [[:], [KeyID(value: 7): [Self.bob]]] as [[KeyID: [Fingerprint]]] {
      let owners = owners.merging([
        try #require(KeyID(String(world.store.owner.text.suffix(16)))): [world.store.owner]
      ]) { $1 }
      let list = RotationList(of: [record], readers: readers, owners: owners, policy: policy)
      #expect(list.entries.map(\.readers) == [[reader]])
    }
  }

  @Test func `a key id that another person claims counts for that person, too`() {
    let id = KeyID(value: 1)
    let record = Sample.record([.server: "a.example"])
    var readers = AccessHistory()
    readers.add([id], to: record.sealed)
    readers.join(record.revision, record.sealed)
    let (alice, bob) = (EngineDouble.fingerprint(1), EngineDouble.fingerprint(2))
    let time = Timestamp(microseconds: 1)
    let policy = Policy(
      keyring: KeyringID(hex: String(repeating: "0", count: 32)) ?? { preconditionFailure("32 digits") }(),
      generation: 1, previous: nil,
      people: [
        alice: Person(name: "A", role: .admin, added: time, encryptTo: [alice]),
        bob: Person(name: "B", role: .member, added: time, removed: time, encryptTo: [bob]),
      ], groups: ["default": [alice]])
    func list(_ owners: [Fingerprint]) -> RotationList {
      RotationList(of: [record], readers: readers, owners: [id: owners], policy: policy)
    }
    #expect(list([alice]).entries.isEmpty)
    #expect(
      list([alice, bob]).entries.map(\.readers) == [[.init(person: bob, keys: [id], reason: .left(time))]])
  }

  @Test func `the item of a conflict is listed, and resolving the conflict does not close the entry`() throws
  {
    for choice in ConflictChoice.allCases {
      let clones = try SyncClones(2)
      let world = clones.world
      try clones.changePolicy { try world.store.join(Self.bob, "default") }
      let item = try clones.add(0, "a.example", "alice")
      try clones.sync(0)
      try clones.sync(1)
      try clones.replace(0, item, "zero")
      try clones.replace(1, item, "one")
      try clones.sync(0)
      try clones.sync(1)
      try clones.changePolicy { try world.store.remove(Self.bob) }
      #expect(try world.rotationList().entries(.open).map(\.record.id) == [item.id])
      let copy = try #require(try clones.open(0).conflictCopies().first)
      let kept = try clones.open(0).resolve(copy, keeping: choice)
      try world.commit()
      let resolved = try world.rotationList()
      #expect(Set(resolved.entries(.open).map(\.record.id)) == Set(kept.map(\.id)), "\(choice)")
      #expect(resolved.entries(.deleted).isEmpty, "\(choice)")
    }
  }

  @Test func `a shallow clone and a store without git report that there may be more`() throws {
    let world = try shared()
    let record = try add(world, "a.example")
    let old = try world.replaceSecret(record)
    try world.changePolicy { try world.store.remove(Self.bob) }
    let clone = "\(world.store.folder.path)/shallow"
    try world.sealAgain(old)
    try world.git(["clone", "-q", "--depth", "1", "file://\(world.path)", clone])
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: clone)
    let cut = try world.rotationList(at: clone)
    #expect(cut.gaps == [.cutOff] && cut.entries.isEmpty, "the earlier message is not in it")
    let plain = try world.rotationList(withGit: false)
    #expect(plain.gaps == [.noHistory] && plain.entries.isEmpty)
    #expect(try world.rotationList().openReaders == [record.id.hex: [Self.bob.text]])
  }

  @Test func `missing, unreadable and unassigned objects are counted`() throws {
    let world = try shared()
    let record = try add(world, "a.example")
    try world.changePolicy { try world.store.remove(Self.bob) }
    let file = URL(fileURLWithPath: "\(world.path)/\(StoreLayout.itemFile(record.path, isLocal: false))")
    let message = try Data(contentsOf: file)
    let other = world.path + "/items/internet-password/a.example/other.gpg"
    try (message + [0]).write(to: URL(fileURLWithPath: other))
    try Data(count: StoreLayout.sealedItemLimit + 1).write(to: URL(fileURLWithPath: other + ".gpg"))
    let bad = world.path + "/items/internet-password/a.example/bad.json"
    try Data("{no line\n".utf8).write(to: URL(fileURLWithPath: bad))
    try world.git(["add", "-A", "items"])
    try world.git(["commit", "-q", "-m", "stray"])
    for file in [other, other + ".gpg", bad] { try FileManager.default.removeItem(atPath: file) }
    try world.git(["commit", "-q", "-am", "take it out"])
    let (list, readers) = try world.rotation()
    #expect(list.gaps == [.strays(1), .tooLarge(1), .badRecords(1)] && readers.gaps.isEmpty)
    #expect(list.openReaders == [record.id.hex: [Self.bob.text]])
    try Data([1]).write(to: file)
    try world.git(["commit", "-q", "-am", "damage"])
    #expect(try world.rotationList().gaps == list.gaps, "the message is still in the history")
    let name = try world.git(["rev-parse", "HEAD~1:\(StoreLayout.itemFile(record.path, isLocal: false))"])
      .trimmingCharacters(in: .whitespacesAndNewlines)
    try world.removeObject(name)
    #expect(throws: GitError.self, "git itself reports that an object is missing") {
      try world.rotationList()
    }
  }
}
