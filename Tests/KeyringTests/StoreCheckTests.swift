import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests the findings of a check, and that a check changes nothing.
@Suite(.serialized) struct StoreCheckTests {
  private let store = StandInStore()
  private let keyring: Keyring
  private let record: ItemRecord
  private var file: String { StoreLayout.itemFile(record.path, isLocal: false) }

  init() throws {
    keyring = try store.create()
    record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
  }

  private func has(_ path: String, _ kind: Finding.Kind, in keyring: Keyring) throws -> Bool {
    try keyring.check().findings.contains(Finding(path, kind))
  }

  // MARK: Recipients

  @Test func `an item of a group that the policy does not have is not accepted`() throws {
    var forged = record
    forged.group = "ops"
    try store.put(store.bytes(file), at: store.secretFile(forged))
    let signed = try store.sign([forged], by: store.owner, for: keyring.policy.keyring)[0]
    try store.put(signed.bytes, at: store.recordFile(forged))
    try store.putLine(forged)
    #expect(try has(store.recordFile(forged), .damaged(.badSignature), in: keyring))
    #expect(throws: KeyringError.itemDamaged(forged.reference, .badSignature)) {
      _ = try keyring.text(of: forged)
    }
  }

  @Test func `the recipients for other programs are written for the default group and never read`() throws {
    let path = StoreLayout.passRecipients
    #expect(try store.bytes(path) == Array("\(store.owner.text)\n".utf8))
    let stranger = Array("\(EngineDouble.fingerprint(9).text)\n".utf8)
    for other in [stranger, [], nil] as [[UInt8]?] {
      try store.put(other, at: path)
      #expect(try keyring.check().findings == [Finding(path, .passRecipients)])
      let added = try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
      #expect(try keyring.readers(of: added).readers.map(\.people) == [[store.owner]])
      try keyring.delete([added])
      let report = try keyring.repair()
      #expect(report.findings.isEmpty && report.repairs == [.rewrotePassRecipients])
      #expect(try store.bytes(path) == Array("\(store.owner.text)\n".utf8))
    }
  }

  @Test func `items that cannot be decrypted do not count as decrypted`() throws {
    _ = try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    #expect(try keyring.check(decrypts: true).decrypted == keyring.find(Query()).items.count)
    store.engine.refusal = .notARecipient(recipients: [])
    #expect(try keyring.check(decrypts: true).decrypted == 0)
  }

  @Test func `an unusable key is reported once, and not once more per item`() throws {
    for number in 0..<3 {
      _ = try keyring.add(.login("\(number).example", "me"), secret: SecretBytes(text: "s"))
    }
    store.engine.makeUnusable(store.owner, .revoked)
    #expect(
      try keyring.check().findings
        == [Finding(StoreLayout.keyFile(store.owner), .key(store.owner, .revoked))])
  }

  // MARK: A check changes nothing

  @Test func `a check changes nothing and takes no lock`() throws {
    let count = Counter()
    let reading = try store.open(faults: { _, _ in
      _ = count.next()
      return .fail(EROFS)
    })
    #expect(try reading.check(decrypts: true).isClean)
    #expect(count.next() == 1, "no operation was tried before")
    try store.tree().createFile("items/stray", [1])
    #expect(try reading.check().findings == [Finding("items/stray", .stray(.name))])
    #expect(count.next() == 2)
  }

  @Test func `a transaction that was interrupted after its commit is reported and left unchanged`() throws {
    let isDecided = Atomic(false)
    let dying = try store.open(faults: { operation, path in
      if isDecided.load(ordering: .relaxed) { return .fail(4) }
      if operation == .rename && path.hasSuffix("commit.json") { isDecided.store(true, ordering: .relaxed) }
      return nil
    })
    #expect(throws: KeyringError.self) { try dying.delete([record]) }
    let folder = try #require(try store.tree().list(".keytree").first { $0 != "lock" })
    let reading = try store.open(faults: { _, _ in .fail(EROFS) })
    #expect(try has(".keytree/\(folder)", .unfinished, in: reading))
    #expect(try store.tree().status(".keytree/\(folder)/commit.json") != nil)
    #expect(try keyring.find(Query()).items.isEmpty)
    #expect(try keyring.check().isClean)
  }

  @Test func `a check reports that the store is busy if a writer keeps the lock`() throws {
    try store.tree().createFile("items/stray", [1])
    let descriptor = unsafe open("\(store.path)/.keytree/lock", O_RDWR)
    #expect(flock(descriptor, LOCK_EX) == 0)
    var host = store.host
    host.lockTimeout = 0.05
    let keyring = try Keyring.open(at: store.path, host: host, faults: nil, engine: store.engine)
    #expect(throws: KeyringError.busy(holder: getpid())) { try keyring.check() }
    close(descriptor)
    #expect(try keyring.check().findings.count == 1)
  }

  // MARK: Permissions

  @Test
  func
    `a folder or file inside the store that others can write to is reported, and nothing is written there`()
    throws
  {
    let container = "items/internet-password/a.example"
    unsafe chmod("\(store.path)/\(container)", 0o777)
    unsafe chmod("\(store.path)/\(file)", 0o666)
    #expect(try keyring.check().isClean, "other users cannot enter the store")
    unsafe chmod(store.path, 0o755)
    #expect(
      try keyring.check().findings == [
        Finding(container, .unsafe(.writableByOthers)), Finding(file, .unsafe(.writableByOthers)),
      ])
    #expect(throws: KeyringError.unsafeFolder(path: "\(store.path)/\(container)", .writableByOthers)) {
      try keyring.add(.login("a.example", "other"), secret: SecretBytes(text: "t"))
    }
    #expect(try store.tree().list(".keytree") == ["lock"])
    #expect(try keyring.find(Query()).items == [record])
    try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "elsewhere"))
    #expect(try keyring.repair().findings.count == 2, "only the owner may change permissions")
  }

  // MARK: Strays

  @Test func `strays beside the store's own files are reported and quarantined`() throws {
    let tree = try store.tree()
    let stranger = StoreLayout.keyFile(EngineDouble.fingerprint(9))
    for own in [".github", "README.md"] { try tree.createFile(own, [1]) }
    let strays = ["keys/note.txt", stranger, "local/odd", "notes.txt"].sorted()
    for path in strays { try tree.createFile(path, [1]) }
    try tree.createFile(".git/config", [1])
    try tree.makeDirectory("local/items")
    let findings = strays.map { Finding($0, .stray($0 == "notes.txt" ? .notAllowed : .name)) }
    #expect(try keyring.check().findings == findings)
    let report = try keyring.repair()
    #expect(report.findings == [] && report.repairs.count == strays.count)
    #expect(try tree.status(".git/config") != nil)
    let kept = try #require(try tree.list(".keytree").first { $0.hasPrefix("quarantine-") })
    for path in strays { #expect(try tree.read(".keytree/\(kept)/\(path)", limit: 10) == [1]) }
  }
}
