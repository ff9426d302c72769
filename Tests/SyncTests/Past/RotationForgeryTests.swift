import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Sync
import TestSupport
import Testing

/// Tests records that a person can push without a member's key: they never remove an entry from the rotation list.
@Suite(.serialized) struct RotationForgeryTests {
  private static let bob: Fingerprint = RotationListTests.bob
  private static let carol: Fingerprint = RotationListTests.carol
  private let world: SyncWorld
  private let record: ItemRecord
  private let other: ItemRecord

  /// Creates a store in which Bob could read two items before he left. Their current files are not encrypted to him.
  init() throws {
    world = try SyncWorld.withHistory()
    try world.changePolicy { [world] in try world.store.join(Self.bob, "default", "ops") }
    var items: [ItemRecord] = []
    for server in ["a.example", "b.example"] {
      items.append(try world.store.open().add(.login(server, "alice"), secret: SecretBytes(text: server)))
    }
    try world.commit()
    try world.changePolicy { [world] in try world.store.leave(Self.bob, "default") }
    for item in items { try world.sealAgain(item) }
    let now = try world.store.open().find(Query()).items
    (record, other) = (try #require(now.first), try #require(now.last))
  }

  private static func invented() throws -> Revision {
    try #require(Revision(hex: String(repeating: "ab", count: 16)))
  }

  private static func later(_ record: ItemRecord) -> Timestamp {
    Timestamp(microseconds: record.modified.microseconds + 3_600_000_000)
  }

  private func commit() throws {
    try world.git(["add", "-A", "items", "index"])
    try world.git(["commit", "-q", "-m", "forge"])
  }

  /// Forgeries of a record at the same path.
  static let records: [String: @Sendable (inout ItemRecord) throws -> Void] = [
    "revision": { $0.revision = try invented() },
    "date": { ($0.modified, $0.secretModified) = (later($0), later($0)) },
    "revision and file": {
      $0.revision = try invented()
      $0.sealed = ContentDigest(of: [1])
    },
  ]

  @Test(
    "an unsigned record closes no entry, and the list reports that it is incomplete",
    arguments: records.keys.sorted())
  func unsigned(name: String) throws {
    var forged = record
    let forge = try #require(Self.records[name])
    try forge(&forged)
    try world.write(try world.unsigned(forged, proofOf: record), nil, for: forged)
    try commit()
    let list = try world.rotationList()
    #expect(list.gaps == [.unverified(1)])
    #expect(list.openReaders[record.id.hex] == [Self.bob.text])
    #expect(list.openReaders[other.id.hex] == [Self.bob.text])
    let isListed = list.entries(.open).contains { $0.record.revision == record.revision }
    #expect(isListed, "the last signed record is used")
    #expect(list.entries(.deleted).isEmpty)
  }

  @Test func `a line of the index is ignored`() throws {
    let before = try world.rotationList()
    var forged = record
    (forged.revision, forged.group) = (try Self.invented(), "ops")
    let shard = world.file(StoreLayout.shardFile(record.path.shard, isLocal: false))
    var lines = Shard(parsing: [UInt8](try Data(contentsOf: shard)), number: record.path.shard)
    try lines.remove(at: record.path)
    try Data(lines.encode() + IndexLine.encode(forged) + [10]).write(to: shard)
    try commit()
    let list = try world.rotationList()
    #expect(list.entries == before.entries)
    #expect(list.openReaders == (try PlainRotation(world)).open)
  }

  @Test func `a deleted record leaves its entry open while the index has the item`() throws {
    try FileManager.default.removeItem(at: world.file(StoreLayout.recordFile(record.path, isLocal: false)))
    try commit()
    let list = try world.rotationList()
    #expect(list.gaps == [.unverified(1)])
    #expect(list.openReaders[record.id.hex] == [Self.bob.text])
  }

  @Test func `another recipient of the same container is a reader`() throws {
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    let message = try world.read(file)
    var lines = message.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false).map(Array.init)
    try world.changePolicy { try world.store.join(Self.carol, "ops") }
    lines[1] = Array(Self.carol.text.utf8)
    try Data(lines.joined(separator: [10])).write(to: world.file(file))
    try commit()
    try Data(message).write(to: world.file(file))
    try commit()
    let list = try world.rotationList()
    #expect(list.isComplete)
    #expect(list.openReaders[record.id.hex] == [Self.bob.text, Self.carol.text])
    #expect(list.openReaders == (try PlainRotation(world)).open)
  }

  @Test func `a file that is no longer a message is still the one in the history`() throws {
    let before = try world.rotationList()
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    // The marker packet of RFC 9580, 5.8.
    try Data([0xca, 3, 0x50, 0x47, 0x50] + world.read(file)).write(to: world.file(file))
    try commit()
    #expect(try world.rotationList().entries == before.entries)
  }

  @Test func `a file of another name with the content of an item hides nothing`() throws {
    let before = try world.rotationList()
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    try Data(world.read(file)).write(to: world.file("items/a.txt"))
    try Data(world.read(file)).write(to: world.file("items/internet-password/a.example/a.txt"))
    try commit()
    let list = try world.rotationList()
    #expect(list.entries == before.entries && list.isComplete)
  }

  /// Forgeries of a record of a deleted item.
  static let goneRecords: [String: @Sendable (inout ItemRecord, _ other: ItemRecord) throws -> Void] = [
    "revision": { item, _ in item.revision = try invented() },
    "revision and file": { item, _ in
      item.revision = try invented()
      item.sealed = ContentDigest(of: [1])
    },
    "revision of an item": { item, other in item.revision = other.revision },
    "file of an item": { item, other in item.sealed = other.sealed },
    "group": { item, _ in item.group = "ops" },
  ]

  @Test("a forged record of a deleted item hides nothing", arguments: goneRecords.keys.sorted())
  func gone(name: String) throws {
    try world.delete(record)
    #expect(try world.rotationList().entries(.deleted).map(\.record.revision) == [record.revision])
    var forged = record
    let forge = try #require(Self.goneRecords[name])
    try forge(&forged, other)
    forged.modified = Self.later(record)
    let bytes = try world.unsigned(forged, proofOf: other)
    let file = world.file(StoreLayout.recordFile(forged.path, isLocal: false))
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    try commit()
    try FileManager.default.removeItem(at: file)
    try commit()
    let list = try world.rotationList()
    let entry = list.entries(.deleted).first {
      $0.record.id == record.id && $0.record.revision == record.revision
    }
    #expect(entry?.names == [Self.bob.text])
    #expect(list.openReaders[other.id.hex] == [Self.bob.text])
  }
}
