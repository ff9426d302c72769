import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests conflict copies that are the same version of an item, as after several people have re-encrypted one copy.
struct DuplicateCopyTests {
  private let store = StandInStore()
  private let item: ItemRecord

  init() throws {
    item = try store.create().add(.login("a.example", "me"), secret: SecretBytes(text: "current"))
  }

  /// Writes a conflict copy of an older version of the item.
  private func putCopy(_ secret: String, revision: Int = 1, changed: (inout ItemRecord) -> Void = { _ in })
    throws
  {
    var record = item
    record.revision = try #require(Revision(hex: String(repeating: "\(revision)", count: 32)))
    changed(&record)
    let message = try store.engine.seal(SecretBytes(text: secret), to: [store.owner])
    record.sealed = ContentDigest(of: message)
    let file = try store.sign([record], by: store.owner, for: try store.open().policy.keyring)[0]
    try store.putConflictCopy(file.bytes, message)
  }

  /// Adds a person to the group, for whom all copies are re-encrypted.
  ///
  /// - Parameters:
  ///   - faults: Faults to inject.
  ///   - prepared: Called after all copies were re-encrypted, before they are written.
  private func addBob(faults: FaultPlan? = nil, prepared: @escaping @Sendable () -> Void = {}) throws {
    let bob = EngineDouble.fingerprint(2)
    let keyring = try store.open(faults: faults)
    let edits: [PolicyEdit] = [
      .add(bob, name: "Bob", role: .member, key: ContentDigest(of: [2]), encryptTo: [bob]),
      .join(bob, group: "default"),
    ]
    _ = try keyring.make(keyring.plan(edits, newKeys: [bob: [2]])) { done, total in
      if done == total { prepared() }
    }
  }

  /// Returns the secrets of the conflict copies, sorted, after all files were checked.
  private func secrets() throws -> [String] {
    let keyring = try store.open()
    #expect(try keyring.check(decrypts: true).findings.isEmpty)
    #expect(try keyring.outdatedItems().isEmpty)
    #expect(try keyring.text(of: item) == "current")
    return try keyring.conflictCopies().map { try keyring.text(of: $0) }.sorted()
  }

  @Test func `copies of one version with the same secret become one when they are re-encrypted`() throws {
    for _ in 0..<5 { try putCopy("old") }
    #expect(try secrets() == Array(repeating: "old", count: 5))
    try addBob()
    #expect(try secrets() == ["old"])
  }

  @Test func `copies with other secrets or attributes stay`() throws {
    try putCopy("old")
    try putCopy("old") { $0.attributes[.label] = "label" }
    try putCopy("old", revision: 2)
    try putCopy("old") { $0.secretModified = Timestamp(microseconds: $0.secretModified.microseconds - 1) }
    // Equal records do not prove equal secrets, because a member can write any record.
    try putCopy("other")
    try putCopy("other")
    try addBob()
    #expect(try secrets() == ["old", "old", "old", "old", "other"])
  }

  @Test func `copies are joined although an interrupted run has kept its messages`() throws {
    for _ in 0..<3 { try putCopy("old") }
    #expect(throws: KeyringError.self) {
      try addBob(faults: { operation, path in
        operation == .rename && path.hasSuffix("commit.json") ? .fail(28) : nil
      })
    }
    #expect(try store.open().conflictCopies().count == 3)
    try addBob()
    #expect(try secrets() == ["old"])
  }

  @Test(arguments: 0..<3)
  func `a copy that is resolved meanwhile takes no other copy with it`(number: Int) throws {
    for _ in 0..<3 { try putCopy("old") }
    let files = try store.open().conflictCopies()[number].files
    try addBob(prepared: { [store] in
      #expect(throws: Never.self) { for file in files { try store.put(nil, at: file) } }
    })
    #expect(try secrets() == ["old"])
  }

  @Test func `copies that need no re-encryption stay`() throws {
    for _ in 0..<2 { try putCopy("old") }
    #expect(try store.open().reencryptOutdated() == 0)
    #expect(try secrets() == ["old", "old"])
  }
}
