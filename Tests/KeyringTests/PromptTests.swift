import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests that other writers do not wait for a passphrase. GnuPG may ask for one whenever it signs or decrypts, and the
/// user may never answer.
@Suite(.serialized) struct PromptTests {
  /// A stand-in that runs a callback whenever a dialog could appear.
  private final class AskingEngine: OpenPGPEngine {
    private let base: EngineDouble
    private let ask = Mutex<@Sendable () -> Void>({})

    init(_ base: EngineDouble) { self.base = base }

    func onAsking(_ body: @escaping @Sendable () -> Void) { ask.withLock { $0 = body } }

    func seal(
      _ plaintext: borrowing SecretBytes, to recipients: [Recipient]
    ) throws(EngineError) -> [UInt8] { try base.seal(plaintext, to: recipients) }

    func signMessage(_ content: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
      ask.withLock { $0 }()
      return try base.signMessage(content, signer: signer)
    }

    func verifyMessages(_ messages: [[UInt8]]) throws(EngineError) -> [SignatureFact?] {
      try base.verifyMessages(messages)
    }

    func containerDigest(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> ContentDigest {
      try unsafe base.containerDigest(of: ciphertext)
    }

    func open(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes {
      ask.withLock { $0 }()
      return try base.open(ciphertext, limit: limit)
    }

    func warmUp() {}
    func recipients(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> [KeyID] {
      try unsafe base.recipients(of: ciphertext)
    }
    func checkRecipients(_ recipients: [Recipient]) throws(EngineError) {
      try base.checkRecipients(recipients)
    }
    func openWithPrompt(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes {
      ask.withLock { $0 }()
      return try base.openWithPrompt(ciphertext, limit: limit)
    }
    func checkPassphrase(of person: Fingerprint) throws(EngineError) {
      try base.checkPassphrase(of: person)
    }
    func cachedPassphrases(of user: Recipient) throws(EngineError) -> CachedPassphrases {
      try base.cachedPassphrases(of: user)
    }
    func forgetPassphrases() throws(EngineError) { try base.forgetPassphrases() }
    func confirm(_ question: String) throws(EngineError) -> Bool { try base.confirm(question) }
    func with(_ cancellation: Cancellation) -> any OpenPGPEngine { self }
    func owners(of id: KeyID) throws(EngineError) -> [Fingerprint] { try base.owners(of: id) }
    func ownPeople() throws(EngineError) -> [Fingerprint] { try base.ownPeople() }
    func publicKeys() throws(EngineError) -> [PublicKey] { try base.publicKeys() }
    func with(keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine { self }
    func signDetached(
      _ bytes: [UInt8], signer: Fingerprint, evenIfRevokedHere isRevokedHere: Bool
    ) throws(EngineError) -> [UInt8] {
      try base.signDetached(bytes, signer: signer)
    }
    func verifyDetached(signature: [UInt8], of bytes: [UInt8]) throws(EngineError) -> [SignatureFact] {
      try base.verifyDetached(signature: signature, of: bytes)
    }
    var statistics: EngineStatistics { base.statistics }
  }

  private let store = StandInStore()
  private let engine: AskingEngine
  private let keyring: Keyring
  private let record: ItemRecord

  init() throws {
    record = try store.create().add(.login("a.example", "me"), secret: SecretBytes(text: "old"))
    engine = AskingEngine(store.engine)
    keyring = try Keyring.open(at: store.path, host: store.host, faults: nil, engine: engine)
  }

  private static func changes(_ name: AttributeName, _ value: String) -> AttributeChanges {
    var set = Attributes()
    set[name] = .string(value)
    return AttributeChanges(set: set)
  }

  @Test func `another writer can take the lock whenever a passphrase could be requested`() throws {
    let lock = "\(store.path)/.keytree/lock"
    let asked = Counter()
    engine.onAsking {
      _ = asked.next()
      let descriptor = unsafe open(lock, O_RDWR)
      // A process that another test starts at this moment has a copy of every descriptor until its program runs.
      let isFree = (0..<200).contains { _ in
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        usleep(10_000)
        return false
      }
      #expect(isFree, "the lock is free")
      close(descriptor)
    }
    let added = try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    let updated = try keyring.update(added, secret: SecretBytes(text: "t"))
    let renamed = try keyring.update(updated, Self.changes(.account, "new"))
    try keyring.duplicate(renamed, as: .login("c.example", "me"))
    _ = try keyring.replaceSecret(of: renamed, with: SecretBytes(text: "u"))
    #expect(asked.next() > 6)
  }

  @Test func `an item that changes while its new secret is encrypted keeps that change`() throws {
    let (store, record, count) = (store, record, Counter())
    engine.onAsking {
      guard count.next() == 1 else { return }
      #expect(throws: Never.self) { try store.open().update(record, Self.changes(.label, "meanwhile")) }
    }
    let updated = try keyring.update(record, secret: SecretBytes(text: "new"))
    #expect(updated.attributes[.label] == .string("meanwhile"))
    #expect(try store.open().text(of: updated) == "new")
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `an item whose secret changes while it is renamed keeps the new secret`() throws {
    let (store, record, count) = (store, record, Counter())
    engine.onAsking {
      guard count.next() == 1 else { return }
      #expect(throws: Never.self) { try store.open().update(record, secret: SecretBytes(text: "meanwhile")) }
    }
    let renamed = try keyring.update(record, Self.changes(.account, "new"))
    #expect(try store.open().text(of: renamed) == "meanwhile")
    #expect(try store.open().find(Query()).items == [renamed])
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `concurrent writers of different items do not make each other sign again`() throws {
    // Both items are in one shard, which both writers rewrite.
    let other = try #require(
      try (0...).lazy.map { NewItem.login("a.example", "x\($0)") }.first {
        try $0.path().shard == record.path.shard
      })
    let neighbour = try keyring.add(other, secret: SecretBytes(text: "old"))
    let (store, asked) = (store, Counter())
    engine.onAsking {
      guard asked.next() == 1 else { return }
      #expect(throws: Never.self) {
        try store.open().update(
          neighbour, Self.changes(.label, "meanwhile"), secret: SecretBytes(text: "meanwhile"))
        try store.open().add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
      }
    }
    let updated = try keyring.update(record, Self.changes(.label, "new"), secret: SecretBytes(text: "new"))
    #expect(asked.next() == 2, "asked once")
    let found = try store.open().find(Query(predicates: [.equal(.server, "a.example")])).items
    #expect(found.first { $0.id == record.id } == updated)
    #expect(try Set(found.map { try store.open().text(of: $0) }) == ["new", "meanwhile"])
    #expect(Set(found.map { $0.attributes[.label] }) == ["new", "meanwhile"])
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `the second of two concurrent writers of one item signs its change again, once`() throws {
    let (store, record, asked) = (store, record, Counter())
    engine.onAsking {
      guard asked.next() == 1 else { return }
      #expect(throws: Never.self) { try store.open().update(record, Self.changes(.label, "meanwhile")) }
    }
    try keyring.update(record, Self.changes(.comment, "new"))
    #expect(asked.next() == 3, "asked twice")
    let found = try #require(try store.open().find(Query()).items.first)
    #expect(found.attributes[.label] == "meanwhile" && found.attributes[.comment] == "new")
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `a field that is added while its login is renamed is not lost`() throws {
    let (store, record, asked) = (store, record, Counter())
    engine.onAsking {
      guard asked.next() == 1 else { return }
      let field = NewItem.login("a.example", "me", [.field: "otp"])
      #expect(throws: Never.self) { try store.open().add(field, secret: SecretBytes(text: "seed")) }
    }
    try keyring.transaction { changes throws(KeyringError) in
      for item in [record] + (try changes.fields(of: record)) {
        try changes.update(item, Self.changes(.account, "new"))
      }
    }
    var query = Query()
    query.includesFields = true
    let found = try store.open().find(query).items
    #expect(found.count == 2)
    #expect(try Set(found.map { try store.open().text(of: $0) }) == ["old", "seed"])
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `an item that is removed during its encryption stays removed`() throws {
    let (store, record) = (store, record)
    engine.onAsking {
      #expect(throws: Never.self) { try store.open().delete([record]) }
    }
    #expect(throws: KeyringError.itemNotFound) {
      try keyring.update(record, secret: SecretBytes(text: "new"))
    }
    #expect(try store.open().find(Query()).items.isEmpty)
  }

  @Test
  func `a writer whose item others have changed three times takes the lock first, and nothing is lost`()
    throws
  {
    let (store, record, count) = (store, record, Counter())
    engine.onAsking {
      let number = count.next()
      guard number <= 3 else { return }
      #expect(throws: Never.self) { try store.open().update(record, Self.changes(.label, "\(number)")) }
    }
    let updated = try keyring.update(record, secret: SecretBytes(text: "new"))
    #expect(count.next() == 5)
    #expect(updated.attributes[.label] == .string("3"))
    #expect(try store.open().text(of: updated) == "new")
  }

  @Test func `an edited secret replaces only the secret that it was made from`() throws {
    let (store, record, count) = (store, record, Counter())
    engine.onAsking {
      guard count.next() == 1 else { return }
      #expect(throws: Never.self) { try store.open().update(record, Self.changes(.label, "meanwhile")) }
    }
    let edited = try #require(try keyring.replaceSecret(of: record, with: SecretBytes(text: "edited")))
    #expect(edited.attributes[.label] == .string("meanwhile"))
    #expect(try keyring.replaceSecret(of: record, with: SecretBytes(text: "late")) == nil)
    #expect(try store.open().text(of: edited) == "edited")
    try keyring.delete([edited])
    #expect(try keyring.replaceSecret(of: edited, with: SecretBytes(text: "late")) == nil)
  }

  @Test func `no passphrase is requested for a change that will be refused`() throws {
    let tree = try store.tree()
    let policy = try #require(try tree.read("policy.json", limit: 1 << 20))
    let edited = String(decoding: policy, as: UTF8.self).replacing("Alice", with: "Mallory")
    try tree.replaceFile("policy.json", with: Array(edited.utf8), temporary: "tmp")
    let keyring = try Keyring.open(at: store.path, host: store.host, faults: nil, engine: engine)
    engine.onAsking { Issue.record("asked") }
    let attempts: [() throws -> Void] = [
      { try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s")) },
      { try keyring.update(record, secret: SecretBytes(text: "t")) },
      { try keyring.update(record, Self.changes(.account, "new")) },
    ]
    for attempt in attempts {
      #expect(throws: KeyringError.policyNotTrusted(.changed(generation: 1, pinned: 1))) { try attempt() }
    }
  }
}
