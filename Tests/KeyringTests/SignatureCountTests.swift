import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests how often the user's key is needed. Each time, an agent with a passphrase works for 100 ms, and a card may
/// require a touch.
@Suite(.serialized) struct SignatureCountTests {
  /// An action of a user, with its number of decryptions and signatures.
  private struct Step {
    let name: String
    let decryptions: Int
    let signatures: Int
    let body: (Keyring) throws -> Void
  }

  private static func item(_ keyring: Keyring, _ server: String) throws -> ItemRecord {
    try #require(try keyring.find(Query(text: server)).items.first)
  }

  private static func steps(imported: Int) -> [Step] {
    let many = (0..<imported).map { NewItem.login("host\($0).example", "me") }
    return [
      Step(name: "add", decryptions: 0, signatures: 1) {
        try $0.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
      },
      Step(name: "set attributes", decryptions: 0, signatures: 1) {
        try $0.update(item($0, "a.example"), .set(.label, "x"))
      },
      Step(name: "set nothing", decryptions: 0, signatures: 0) {
        try $0.update(item($0, "a.example"), .set(.label, "x"))
      },
      Step(name: "set secret", decryptions: 0, signatures: 1) {
        try $0.update(item($0, "a.example"), secret: SecretBytes(text: "t"))
      },
      Step(name: "rename", decryptions: 0, signatures: 1) {
        try $0.update(item($0, "a.example"), .set(.server, "b.example"))
      },
      Step(name: "keep on this machine", decryptions: 0, signatures: 1) {
        try $0.update(item($0, "b.example"), AttributeChanges(set: [.label: "y"], isLocal: true))
      },
      Step(name: "import", decryptions: 0, signatures: 1) {
        _ = try $0.addAll(many, secret: { SecretBytes(text: "\($0)") })
      },
      Step(name: "find", decryptions: 0, signatures: 0) { _ = try $0.find(Query()) },
      Step(name: "get", decryptions: 1, signatures: 0) { _ = try $0.text(of: item($0, "host0.example")) },
      Step(name: "duplicate", decryptions: 1, signatures: 1) {
        try $0.duplicate(item($0, "host0.example"), as: .login("copy.example", "me"))
      },
      Step(name: "two changes at once", decryptions: 0, signatures: 1) { keyring in
        let records = [try item(keyring, "host0.example"), try item(keyring, "b.example")]
        try keyring.transaction { changes throws(KeyringError) in
          for record in records { try changes.update(record, .set(.comment, "both")) }
        }
      },
      Step(name: "delete", decryptions: 0, signatures: 0) { try $0.delete([item($0, "copy.example")]) },
      Step(name: "check", decryptions: 0, signatures: 0) { _ = try $0.check() },
    ]
  }

  private func check(_ steps: [Step], _ open: () throws -> Keyring) throws {
    for step in steps {
      let keyring = try open()
      let before = keyring.engineStatistics
      try step.body(keyring)
      let after = keyring.engineStatistics
      #expect(after.decryptions - before.decryptions == step.decryptions, "\(step.name)")
      #expect(after.signatures - before.signatures == step.signatures, "\(step.name)")
    }
  }

  @Test func `every change is signed once, and only actions that show a secret decrypt one`() throws {
    let store = StandInStore()
    try store.create()
    try check(Self.steps(imported: 200)) { try store.open() }
    #expect(try store.open().find(Query()).items.count == 201)
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `with real GnuPG every change is signed once, and only actions that show a secret decrypt one`()
    throws
  {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    _ = try store.create()
    try check(Self.steps(imported: 20)) { try store.open() }
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `a change of a group decrypts every item, signs all records once and signs the policy once`()
    throws
  {
    let store = StandInStore()
    try store.create()
    let bob = EngineDouble.fingerprint(2)
    let count = 30
    let items = (0..<count).map { NewItem.login("host\($0).example", "me") }
    _ = try store.open().addAll(items, secret: { SecretBytes(text: "\($0)") })
    let comes: [PolicyEdit] = [
      .add(bob, name: "Bob", role: .member, key: ContentDigest(of: [2]), encryptTo: [bob]),
      .join(bob, group: "default"),
    ]
    for (edits, keys) in [(comes, [bob: [2]]), ([.remove(bob)], [:])]
      as [([PolicyEdit], [Fingerprint: [UInt8]])]
    {
      let keyring = try store.open()
      let before = store.engine.statistics
      _ = try keyring.make(keyring.plan(edits, newKeys: keys))
      let after = store.engine.statistics
      #expect(after.decryptions - before.decryptions == count)
      #expect(after.encryptions - before.encryptions == count)
      #expect(after.signatures - before.signatures == 2)
    }
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `with real GnuPG a change of a group of N items needs the key N + 2 times`() throws {
    let world = try TeamWorld([.alice, .bob])
    let count = 5
    _ = try world.addItems(count)
    let keyring = try world.open(.alice)
    let before = keyring.engineStatistics
    let file = try world.keyFile(.bob)
    let edits: [PolicyEdit] = [
      .add(
        GnuPGKey.bob.fingerprint, name: "Bob", role: .member, key: ContentDigest(of: file.bytes),
        encryptTo: [GnuPGKey.bob.encryptionSubkey]),
      .join(GnuPGKey.bob.fingerprint, group: GroupName.default),
    ]
    let now = try keyring.make(keyring.plan(edits, newKeys: [GnuPGKey.bob.fingerprint: file.bytes]))
    // The statistics of the new engine continue those of the old one.
    for after in [keyring.engineStatistics, now.engineStatistics] {
      #expect(after.decryptions - before.decryptions == count)
      #expect(after.signatures - before.signatures == 2)
    }
    #expect(try now.check(decrypts: true).isClean)
  }
}

/// Tests that verified signatures are remembered on this machine.
@Suite(.serialized) struct VerifiedRootsTests {
  private let store = StandInStore()
  private let keyring: Keyring
  private let records: [ItemRecord]
  private var folder: String { "\(keyring.policy.keyring.hex)/roots" }

  init() throws {
    keyring = try store.create()
    for number in 0..<5 {
      try keyring.add(.login("host\(number).example", "me"), secret: SecretBytes(text: "\(number)"))
    }
    records = try keyring.find(Query()).items
    // The state of another machine.
    try Self.forget(store, keyring)
  }

  private static func forget(_ store: StandInStore, _ keyring: Keyring) throws {
    ScratchFolder.remove("\(store.host.stateBase)/\(keyring.policy.keyring.hex)/roots")
  }

  /// Returns the number of signed messages that are verified when a new process reads all items.
  private func verifications(_ engine: EngineDouble? = nil) throws -> Int {
    let engine = engine ?? store.engine
    let keyring = try Keyring.open(at: store.path, host: store.host, faults: nil, engine: engine)
    let before = engine.verifications
    for (number, record) in records.enumerated() { #expect(try keyring.text(of: record) == "\(number)") }
    return engine.verifications - before
  }

  @Test func `a signature that was verified once is not verified by the next process`() throws {
    #expect(try verifications() == 5)
    #expect(try verifications() == 0)
    let keyring = try store.open()
    #expect(try keyring.check(decrypts: true).isClean)
    // A signature that was made here needs no verification.
    let before = store.engine.verifications
    let added = try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    #expect(try store.open().text(of: added) == "s")
    #expect(store.engine.verifications == before)
  }

  @Test func `one signature over many records is verified once`() throws {
    let items = (0..<50).map { NewItem.login("many\($0).example", "me") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    try Self.forget(store, keyring)
    let before = store.engine.verifications
    #expect(try store.open().verifiedRecords().records.count == 55)
    #expect(store.engine.verifications == before + 6)
  }

  @Test func `records that are verified together get the same answers as alone`() throws {
    let items = (0..<120).map { NewItem.login("many\($0).example", "me") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    var claims = try keyring.find(Query()).items.map { record in
      let path = StoreLayout.recordFile(record.path, isLocal: false)
      return RecordClaim(try #require(try store.bytes(path)), path: record.path)
    }
    let (first, last) = (claims[0], claims[claims.count - 1])
    claims[3] = RecordClaim(Array(claims[3].bytes.dropLast(2)), path: claims[3].path)
    claims[40] = RecordClaim(last.bytes, path: claims[40].path)
    let edited = String(decoding: claims[77].bytes, as: UTF8.self).replacing("many", with: "maul")
    claims[77] = RecordClaim(Array(edited.utf8), path: nil)
    claims[90] = RecordClaim(first.bytes, path: nil)
    let results = try keyring.verify(claims)
    let failed = results.indices.filter { (try? results[$0].get()) == nil }
    #expect(claims.count == 125 && failed == [3, 40, 77])
    #expect(results[40] == .failure(.mismatch(.place)))
    for (claim, result) in zip(claims, results) { #expect(try keyring.verify([claim]) == [result]) }
  }

  @Test func `a line that was truncated while it was written is not accepted, and the others are`() throws {
    #expect(try verifications() == 5)
    let state = try FileTree(at: store.host.stateBase)
    var lines = 0
    for name in try state.list(folder) {
      let path = "\(folder)/\(name)"
      let bytes = try #require(try state.read(path, limit: 1 << 20))
      lines += bytes.count { $0 == 10 }
      try state.replaceFile(path, with: Array(bytes.dropLast(7)), temporary: "tmp")
    }
    #expect(lines == 5)
    let files = try state.list(folder).count
    #expect(try verifications() == files)
  }

  @Test func `a line that was edited is not accepted`() throws {
    #expect(try verifications() == 5)
    let state = try FileTree(at: store.host.stateBase)
    let stranger = EngineDouble.fingerprint(9)
    for name in try state.list(folder) {
      let text = String(
        decoding: try #require(try state.read("\(folder)/\(name)", limit: 1 << 20)), as: UTF8.self)
      let edited = text.replacing(store.owner.text, with: stranger.text)
      try state.replaceFile("\(folder)/\(name)", with: Array(edited.utf8), temporary: "tmp")
    }
    #expect(try verifications() == 5)
  }

  @Test func `a verification with another key file of the signer is not accepted`() throws {
    #expect(try verifications() == 5)
    // A newer key file may revoke the key, so GnuPG has to verify again.
    let other: [UInt8] = [1, 2, 3]
    let current = try store.open()
    let edits: [PolicyEdit] = [.key(store.owner, ContentDigest(of: other))]
    let before = store.engine.verifications
    // The change verifies all earlier signatures again, to sign those anew that the new key file makes invalid.
    _ = try current.make(current.plan(edits, newKeys: [store.owner: other]))
    #expect(try store.open().distrust == nil)
    let records = try store.open().verifiedRecords()
    #expect(records.records.count == 5 && records.distrusted.isEmpty)
    #expect(store.engine.verifications > before)
    let again = store.engine.verifications
    #expect(try store.open().verifiedRecords().records.count == 5)
    #expect(store.engine.verifications == again)
  }

  @Test func `membership is checked again each time`() throws {
    let bob = EngineDouble.fingerprint(2)
    try store.join(bob, "default", "ops")
    let engine = EngineDouble(readers: [bob, store.owner])
    var signed = records[0]
    signed.attributes[.label] = "by Bob"
    signed.sealed = ContentDigest(of: try #require(try store.bytes(store.secretFile(signed))))
    let file = try store.sign([signed], by: bob, for: keyring.policy.keyring)[0]
    try store.put(file.bytes, at: store.recordFile(signed))
    try store.putLine(signed)
    let claim = RecordClaim(file.bytes, path: signed.path)
    let open = { try Keyring.open(at: store.path, host: store.host, faults: nil, engine: engine) }
    #expect(try open().verify([claim])[0].map(\.signer) == .success(bob))
    try store.leave(bob, "default")
    let before = engine.verifications
    #expect(try open().verify([claim])[0].map(\.signer) == .failure(.damage(.badSignature)))
    #expect(engine.verifications == before, "the signer is known without another verification")
  }
}
