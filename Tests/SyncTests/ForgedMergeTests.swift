import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests merges with changes of items that no member of the group has signed, or whose files do not match.
@Suite(.serialized, .slow) struct ForgedMergeTests {
  /// The change to the files of an item.
  enum Forgery: CaseIterable {
    case editedRecord, signedByStranger, signedForAnotherKeyring, recordOfAnotherItem, noRecord
    case fileOfAnotherItem, noFile

    /// The reason why the item is not accepted.
    var fault: RecordProblem {
      switch self {
      case .editedRecord: .damage(.badRecord(.notProven))
      case .signedByStranger: .damage(.badSignature)
      case .signedForAnotherKeyring: .mismatch(.keyring)
      case .recordOfAnotherItem: .mismatch(.place)
      case .noRecord: .damage(.noRecord)
      case .fileOfAnotherItem: .damage(.notAsRecorded)
      case .noFile: .damage(.missing)
      }
    }
  }

  private static let forgedLabel: AttributeValue = "forged"

  /// Two clones with two items in each.
  private struct World {
    let clones: SyncClones
    let item: ItemRecord
    let other: ItemRecord

    init() throws {
      clones = try SyncClones()
      item = try clones.add(0, "a.example", "me", "one")
      other = try clones.add(0, "b.example", "me", "two")
      try clones.sync(0)
      try clones.sync(1)
    }

    /// Forges the item and its index line in the first clone, and commits that with plain git.
    func forge(_ forgery: Forgery) throws {
      let store = clones.world.store
      let (record, secret) = (store.recordFile(item), store.secretFile(item))
      var forged = item
      forged.attributes[.label] = ForgedMergeTests.forgedLabel
      let keyring = try clones.open(0).policy.keyring
      switch forgery {
      case .editedRecord:
        let proof = try RecordFile(parsing: try #require(try store.bytes(record))).proof
        let line = try IndexLine.encode(forged)
        try store.put(RecordFile(line: line, record: forged, proof: proof).bytes, at: record)
      case .signedByStranger:
        let stranger = EngineDouble.fingerprint(9)
        try store.put(try store.sign([forged], by: stranger, for: keyring)[0].bytes, at: record)
      case .signedForAnotherKeyring:
        var generator = SystemRandomNumberGenerator()
        let file = try store.sign([forged], by: store.owner, for: KeyringID(using: &generator))[0]
        try store.put(file.bytes, at: record)
      case .recordOfAnotherItem: try store.put(try store.bytes(store.recordFile(other)), at: record)
      case .noRecord: try store.put(nil, at: record)
      case .fileOfAnotherItem: try store.put(try store.bytes(store.secretFile(other)), at: secret)
      case .noFile: try store.put(nil, at: secret)
      }
      try store.putLine(forged)
      _ = try clones.git(0, "add", "--all")
      _ = try clones.git(0, "commit", "--quiet", "--message", "forged")
    }

    func expectNoDecryption(since before: Int, _ comment: Comment) {
      #expect(clones.world.store.engine.statistics.decryptions == before, comment)
    }
  }

  @Test(arguments: Forgery.allCases, [false, true])
  func `an unsigned change on the remote is refused by name, and the rest is merged`(
    forgery: Forgery, hasOwnChange: Bool
  ) throws {
    let world = try World()
    let clones = world.clones
    try world.forge(forgery)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let comment: Comment = "\(forgery), own change: \(hasOwnChange)"
    // The push also has a signed change, and this side has changed another item or the same one.
    try clones.add(0, "c.example", "me", "three")
    try clones.world.commit()
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let changed = hasOwnChange ? world.item : world.other
    try clones.open(1).update(changed, .set(.comment, "own"))
    let decryptions = clones.world.store.engine.statistics.decryptions
    let report = try clones.sync(1)
    world.expectNoDecryption(since: decryptions, comment)
    #expect(report.refused.map(\.path) == [clones.world.store.recordFile(world.item)], comment)
    #expect(report.refused.map(\.reason) == [.record(forgery.fault)], comment)
    #expect(report.refused.allSatisfy { $0.committer == "P <p@example.org>" }, comment)
    #expect(report.signed == 0 && report.newCopies == 0 && report.deletions.isEmpty, comment)
    let keyring = try clones.open(1)
    let item = try clones.item(1, "a.example")
    #expect(try item.attributes[.label] == nil && keyring.text(of: item) == "one", comment)
    #expect(try keyring.text(of: clones.item(1, "c.example")) == "three", comment)
    let own = try clones.item(1, hasOwnChange ? "a.example" : "b.example")
    #expect(own.attributes[.comment] == "own", comment)
    try clones.expectSound(1, comment)
    // The merge reverts the forgery, so that the next clone does not receive it.
    #expect(try clones.sync(0).refused.isEmpty, comment)
    try clones.expectEqual(comment)
  }

  @Test(arguments: Forgery.allCases)
  func `an unsigned change in the user's own store is not merged into a signed item`(forgery: Forgery) throws
  {
    let world = try World()
    let clones = world.clones
    try world.forge(forgery)
    try clones.open(1).update(world.item, .set(.comment, "signed"))
    try clones.sync(1)
    let statistics = clones.world.store.engine.statistics
    let report = try clones.sync(0)
    world.expectNoDecryption(since: statistics.decryptions, "\(forgery)")
    #expect(clones.world.store.engine.statistics.signatures == statistics.signatures, "\(forgery)")
    #expect(report.signed == 0 && report.newCopies == 0, "\(forgery)")
    let item = try clones.item(0, "a.example")
    #expect(item.attributes[.comment] == "signed" && item.attributes[.label] == nil, "\(forgery)")
    #expect(try clones.open(0).text(of: item) == "one", "\(forgery)")
    try clones.expectSound(0, "\(forgery)")
  }

  @Test func `an older version on the remote becomes a conflict copy and is reported`() throws {
    let world = try World()
    let (clones, store) = (world.clones, world.clones.world.store)
    let files = [store.recordFile(world.item), store.secretFile(world.item)]
    let old = try files.map { try store.bytes($0) }
    try clones.replace(0, world.item, "new")
    try clones.sync(0)
    try clones.sync(1)
    for (file, bytes) in zip(files, old) { try store.put(bytes, at: file) }
    try store.putLine(world.item)
    _ = try clones.git(0, "add", "--all")
    _ = try clones.git(0, "commit", "--quiet", "--message", "an old secret")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.olderVersions == [world.item] && report.newCopies == 1 && report.refused.isEmpty)
    let keyring = try clones.open(1)
    #expect(try keyring.text(of: clones.item(1, "a.example")) == "new")
    let copy = try #require(try keyring.conflictCopies().first)
    #expect(try keyring.text(of: copy) == "one")
    try clones.expectSound(1)
    // Another clone resolves it.
    try clones.sync(0)
    try clones.open(0).resolve(try #require(clones.open(0).conflictCopies().first), keeping: .item)
    try clones.sync(0)
    let next = try clones.sync(1)
    #expect(next.removedCopies == 1 && next.newCopies == 0)
    #expect(try clones.open(1).conflictCopies().isEmpty)
  }
}
