import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the result of plain git when an item was moved to another group, and a member of its group changed it
/// concurrently.
@Suite(.serialized) struct PlainMergeMoveTests {
  private static let alice = EngineDouble.fingerprint(1)
  private static let bob = EngineDouble.fingerprint(2)
  private static let carol = EngineDouble.fingerprint(3)

  /// Merges an item of `ops` in the store with another version of it in `default`.
  ///
  /// - Parameters:
  ///   - signer: The signer of that version: Alice, who is in both groups, or Bob, who is in `default`.
  ///   - member: The signer of the item: Alice, or Carol, who is in `ops` only.
  ///   - knowsBase: True if the history has the common base of both versions.
  private func merge(
    _ signer: Fingerprint, by member: Fingerprint = alice, knowsBase: Bool
  ) throws -> (store: StandInStore, item: ItemRecord, other: ItemRecord, FinishedMerges) {
    let store = StandInStore()
    try store.create()
    try store.join(Self.bob, "default")
    try store.join(Self.carol, "ops")
    let keyring = try store.open()
    var new = NewItem.login("prod.example", "root")
    new.group = "ops"
    let old = try keyring.add(new, secret: SecretBytes(text: "of ops"))
    let past = try #require(try store.bytes(store.recordFile(old)))
    let item = try keyring.update(old, .set(.comment, "own"))
    let own = try store.sign([item], by: member, for: keyring.policy.keyring)[0]
    try store.put(own.bytes, at: store.recordFile(item))
    var other = old
    let message = try store.engine.seal(SecretBytes(text: "other"), to: [store.owner, Self.bob])
    other.group = "default"
    other.sealed = ContentDigest(of: message)
    other.modified = Timestamp(microseconds: item.modified.microseconds + 1)
    let file = try store.sign([other], by: signer, for: keyring.policy.keyring)[0]
    try store.put(file.bytes, at: store.recordFile(other))
    try store.put(message, at: store.secretFile(other))
    try store.putLine(other)
    var versions = HistoricalVersions()
    let line = try IndexLine.encode(old)
    if knowsBase { versions.records[ContentDigest(of: line)] = past }
    let note = PendingMergeFiles.Note(old.path, .removed(line: line), head: "", time: 0)
    let merge = PlainMerge(note, .taken(acceptsOlderTheirs: false))
    return (store, item, other, try keyring.finish([merge], with: versions))
  }

  @Test(arguments: [false, true])
  func `a version signed by someone outside the group is refused and kept as a conflict copy`(
    knowsBase: Bool
  ) throws {
    let (store, item, other, finished) = try merge(Self.bob, knowsBase: knowsBase)
    #expect(finished.refused == [other.path] && finished.copies == 1)
    let keyring = try store.open()
    #expect(try keyring.find(Query()).items == [item])
    #expect(try keyring.text(of: item) == "of ops")
    #expect(try keyring.conflictCopies().map(\.record) == [other])
    // The policy was changed without the list of recipients for other programs.
    let findings = try keyring.check(decrypts: true).findings.filter { $0.kind != .passRecipients }
    #expect(findings.isEmpty, "\(findings)")
  }

  @Test func `if the older version is unknown, both are kept as conflict copies`() throws {
    let (store, item, other, finished) = try merge(Self.bob, by: Self.carol, knowsBase: false)
    #expect(Set(finished.refused) == [item.path, other.path] && finished.copies == 2)
    #expect(try store.open().find(Query()).items.isEmpty)
    let known = try merge(Self.bob, by: Self.carol, knowsBase: true)
    #expect(try known.store.open().find(Query()).items == [known.item])
  }

  @Test(arguments: [false, true])
  func `a version signed by a member of both groups is merged`(knowsBase: Bool) throws {
    let (store, item, other, finished) = try merge(Self.alice, knowsBase: knowsBase)
    #expect(finished.refused.isEmpty)
    let keyring = try store.open()
    let found = try #require(keyring.find(Query()).items.first)
    #expect(found.group == "default" && found.id == item.id)
    #expect(try keyring.text(of: found) == "other")
    let copies = try keyring.conflictCopies().map(\.record)
    #expect(found.attributes[.comment] == "own" || copies == [item], "\(copies) \(other)")
  }
}
