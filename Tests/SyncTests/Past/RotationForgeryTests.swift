import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Sync
import TestSupport
import Testing

/// Lines that somebody who may push has written by hand: no entry of the rotation list goes away by that.
@Suite struct RotationForgeryTests {
  private let world: SyncWorld
  private let record: ItemRecord

  /// A store in which Bob could read an item, and left; the message of today is not for him.
  init() throws {
    world = try SyncWorld.withHistory()
    try world.changePolicy { [world] in try world.store.join(RotationListTests.bob, "default") }
    let added = try world.store.open().add(.login("a.example", "alice"), secret: SecretBytes(text: "s"))
    try world.commit()
    try world.changePolicy { [world] in try world.store.remove(RotationListTests.bob) }
    try world.sealAgain(added)
    record = try #require(try world.store.open().find(Query()).items.first)
  }

  private var shard: String { "\(world.path)/\(StoreLayout.shardFile(record.path.shard, isLocal: false))" }

  private var forgedRevision: Revision {
    get throws { try #require(Revision(hex: String(repeating: "ab", count: 16))) }
  }

  /// Commits a line in place of the item's, or instead of none.
  private func push(_ line: ItemRecord?) throws {
    let bytes = try line.map { try IndexLine.encode($0) + [10] } ?? []
    try Data(bytes).write(to: URL(fileURLWithPath: shard))
    try world.git(["add", "-A", "index"])
    try world.git(["commit", "-q", "-m", "forge"])
  }

  @Test func `a line with another revision closes no entry, and the item is refused`() throws {
    var forged = record
    forged.revision = try forgedRevision
    try push(forged)
    let list = try world.rotationList()
    #expect(list.entries.map(\.state) == [.open] && list.entries.first?.names == [RotationListTests.bob.text])
    let keyring = try world.store.open()
    let found = try #require(try keyring.find(Query()).items.first)
    #expect(found.revision == forged.revision)
    #expect {
      _ = try keyring.secret(for: found)
    } throws: { error in
      guard case KeyringError.bindingMismatch(_, .revision) = error else { return false }
      return true
    }
    // What an admin accepts is the revision of the line and no other one.
    let risk = AcceptedRisk(
      revision: record.revision, reason: "x", by: world.store.owner, at: world.store.host.clock())
    try world.changePolicy { try world.store.changePolicy { $0.accepted[record.id] = risk } }
    #expect(try world.rotationList().entries.map(\.state) == [.open])
    // Another secret closes it as ever.
    try world.replaceSecret(found)
    #expect(try world.rotationList().entries.isEmpty)
  }

  @Test("a line for an item that is gone hides nothing of it", arguments: [true, false])
  func gone(isMessageKept: Bool) throws {
    try world.delete(record)
    #expect(try world.rotationList().entries.map(\.state) == [.deleted])
    var forged = record
    forged.revision = try forgedRevision
    forged.modified = Timestamp(microseconds: record.modified.microseconds + 3_600_000_000)
    if !isMessageKept { forged.sealed = ContentDigest(of: [1]) }
    try push(forged)
    try push(nil)
    let list = try world.rotationList()
    #expect(list.entries.map(\.state) == [.deleted] && list.entries.map(\.record.id) == [record.id])
    #expect(list.entries.first?.names == [RotationListTests.bob.text])
  }
}
