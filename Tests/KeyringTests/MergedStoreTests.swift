import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// Tests states that a merge, or a partly restored backup, can leave.
@Suite(.serialized) struct MergedStoreTests {
  private let store = StandInStore()
  private let keyring: Keyring
  private let record: ItemRecord

  init() throws {
    keyring = try store.create()
    record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
  }

  private func files(_ record: ItemRecord) throws -> (message: [UInt8], record: [UInt8]) {
    (
      try #require(try store.bytes(store.secretFile(record))),
      try #require(try store.bytes(store.recordFile(record)))
    )
  }

  @Test func `a second line for an item stops changes to it, with the reason`() throws {
    var stale = record
    stale.attributes[.label] = "stale"
    stale.sealed = ContentDigest(of: [])
    let lines = try IndexLine.encode(stale) + [10] + IndexLine.encode(record) + [10]
    try store.put(lines, at: store.shardFile(record))
    let attempts: [() throws -> Void] = [
      { try keyring.update(record, secret: SecretBytes(text: "new")) },
      { try keyring.update(record, .set(.label, "other")) },
    ]
    for attempt in attempts {
      #expect { try attempt() } throws: { error in
        guard case KeyringError.shardDamaged(store.shardFile(record), _) = error else { return false }
        return true
      }
    }
    #expect(try keyring.text(of: record) == "first")
  }

  /// The states of the index that plain git can leave.
  enum Leaving: CaseIterable {
    case doubleLine, unsortedLines, staleLine, lineAlone, filesAlone, lineInAnotherShard
  }

  @Test(arguments: Leaving.allCases)
  func `repair rebuilds the index that plain git leaves from the records, without a key`(
    leaving: Leaving
  ) throws {
    let oldLine = try #require(try store.bytes(store.shardFile(record)))
    var expected = ["me": "second"]
    try keyring.update(record, secret: SecretBytes(text: "second"))
    let shard = store.shardFile(record)
    let newLine = try #require(try store.bytes(shard))
    switch leaving {
    case .doubleLine: try store.put(oldLine + newLine, at: shard)
    case .staleLine: try store.put(oldLine, at: shard)
    case .unsortedLines:
      let other = try #require(
        try (0...).lazy.map { NewItem.login("a.example", "x\($0)") }.first {
          try $0.path().shard == record.path.shard
        })
      try keyring.add(other, secret: SecretBytes(text: "other"))
      expected[String(decoding: other.attributes[.account]?.contentBytes ?? [], as: UTF8.self)] = "other"
      let lines = try #require(try store.bytes(shard)).split(separator: 10)
      try store.put(lines.reversed().flatMap { $0 + [10] }, at: shard)
    case .lineAlone:
      let other = try keyring.add(.login("b.example", "you"), secret: SecretBytes(text: "gone"))
      for file in [store.secretFile(other), store.recordFile(other)] { try store.put(nil, at: file) }
    case .filesAlone: try store.put(nil, at: shard)
    case .lineInAnotherShard:
      try store.put(nil, at: shard)
      try store.put(newLine, at: "index/00.jsonl")
    }
    #expect(try !keyring.check().isClean)
    let statistics = store.engine.statistics
    let report = try keyring.repair()
    #expect(report.isClean, "\(report.findings)")
    #expect(!report.repairs.isEmpty)
    #expect(store.engine.statistics.decryptions == statistics.decryptions)
    #expect(store.engine.statistics.signatures == statistics.signatures)
    let items = try keyring.find(Query()).items
    #expect(items.count == expected.count)
    for item in items {
      let account = String(decoding: item.attributes[.account]?.contentBytes ?? [], as: UTF8.self)
      #expect(try keyring.text(of: item) == expected[account])
    }
    let again = try keyring.repair(decrypts: true)
    #expect(again.isClean && again.repairs.isEmpty)
  }

  @Test func `a shard whose last item is removed stays, so that git can merge it`() throws {
    try keyring.delete([record])
    #expect(try store.bytes(store.shardFile(record)) == [])
    #expect(try keyring.check(decrypts: true).isClean)
    try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "again"))
    #expect(try keyring.find(Query()).items.count == 1)
  }

  // MARK: Conflict copies

  /// Returns the item with a second secret, and a conflict copy of its first version.
  private func makeCopy() throws -> (item: ItemRecord, copy: ConflictCopy) {
    let (message, file) = try files(record)
    let new = try keyring.update(record, secret: SecretBytes(text: "second"))
    try store.putConflictCopy(file, message)
    return (new, try #require(try keyring.conflictCopies().first))
  }

  @Test func `a conflict copy is found by no query, passes the check and has a secret`() throws {
    let (item, copy) = try makeCopy()
    #expect(copy.record == record && copy.signer == store.owner)
    #expect(try #require(copy.signed) >= record.modified)
    #expect(try keyring.find(Query()).items == [item])
    var query = Query(predicates: [.id(record.id)])
    query.includesFields = true
    #expect(try keyring.find(query).items == [item])
    #expect(try keyring.secret(of: copy).text() == "first")
    #expect(try keyring.check(decrypts: true).isClean)
    #expect(try keyring.conflictCopies(of: item) == [copy])
    let other = try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    #expect(try keyring.conflictCopies(of: other).isEmpty)
    #expect(try keyring.holder(of: copy) == item)
  }

  @Test(arguments: ConflictChoice.allCases)
  func `a conflict is resolved without a decryption and with at most one signature`(
    choice: ConflictChoice
  ) throws {
    let (item, copy) = try makeCopy()
    let before = store.engine.statistics
    let kept = try keyring.resolve(copy, keeping: choice)
    #expect(store.engine.statistics.decryptions == before.decryptions)
    #expect(store.engine.statistics.encryptions == before.encryptions)
    #expect(store.engine.statistics.signatures - before.signatures == (choice == .item ? 0 : 1))
    #expect(try keyring.conflictCopies().isEmpty)
    #expect(try keyring.find(Query()).items.count == kept.count)
    let texts = try kept.map { try keyring.text(of: $0) }
    switch choice {
    case .item: #expect(texts == ["second"] && kept == [item])
    case .copy:
      #expect(texts == ["first"] && kept.map(\.id) == [item.id] && kept.map(\.revision) == [record.revision])
    case .both:
      #expect(texts == ["second", "first"])
      #expect(kept.map(\.path.name) == ["me", "me_2~\(kept[1].path.name.suffix(10))"])
      #expect(kept[0].id != kept[1].id)
    }
    #expect(try keyring.check(decrypts: true).isClean)
    #expect(throws: KeyringError.self) { _ = try keyring.secret(of: copy) }
  }

  @Test func `a conflict copy can take the place of its deleted item`() throws {
    let (item, copy) = try makeCopy()
    try keyring.delete([item])
    #expect(throws: KeyringError.itemNotFound) { try keyring.resolve(copy, keeping: .item) }
    #expect(try keyring.conflictCopies() == [copy])
    let kept = try keyring.resolve(copy, keeping: .copy)
    #expect(try kept.map { try keyring.text(of: $0) } == ["first"])
    #expect(kept.map(\.id) == [record.id])
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `a conflict copy that no member of its group has signed is listed and cannot be used`() throws {
    let (message, file) = try files(record)
    let stranger = EngineDouble.fingerprint(9)
    let forged = try store.sign([record], by: stranger, for: keyring.policy.keyring)[0]
    try keyring.update(record, secret: SecretBytes(text: "second"))
    try store.putConflictCopy(forged.bytes, message)
    let copy = try #require(try keyring.conflictCopies().first)
    #expect(copy.signer == nil)
    let bad = KeyringError.itemDamaged(record.reference, .badSignature)
    #expect(throws: bad) { _ = try keyring.secret(of: copy) }
    #expect(throws: bad) { try keyring.resolve(copy, keeping: .copy) }
    #expect(throws: bad) { try keyring.resolve(copy, keeping: .both) }
    #expect(try keyring.check().findings == [Finding(copy.files[1], .damaged(.badSignature))])
    // The line determines the names of the files, so the same version with a valid signature replaces them.
    try store.putConflictCopy(file, message)
    #expect(try keyring.conflictCopies().map(\.signer) == [store.owner])
    #expect(try keyring.check().isClean)
  }

  @Test func `other files in the folder of conflict copies are reported`() throws {
    let (_, copy) = try makeCopy()
    let message = try #require(try store.bytes(copy.files[0]))
    let file = try #require(try store.bytes(copy.files[1]))
    let folder = "conflicts/\(record.id.hex)"
    let strays = ["conflicts/x", "\(folder)/x.gpg", "\(folder)/\(String(repeating: "0", count: 64)).txt"]
    for path in strays { try store.put([1], at: path) }
    let misnamed = "\(folder)/\(String(repeating: "0", count: 64)).json"
    try store.put(file, at: misnamed)
    let report = try keyring.check()
    let expected = [
      Finding(strays[0], .stray(.file)), Finding(misnamed, .damaged(.noRecord)),
      Finding(strays[2], .stray(.name)), Finding(strays[1], .stray(.name)),
    ].sorted { $0.path < $1.path }
    #expect(report.findings == expected, "\(report.findings)")
    #expect(try keyring.conflictCopies() == [copy])
    #expect(try store.bytes(copy.files[0]) == message)
    // A file of the copy is missing or was replaced.
    try store.put(nil, at: copy.files[0])
    #expect(try keyring.check().findings.contains(Finding(copy.files[0], .damaged(.missing))))
    #expect(throws: KeyringError.itemDamaged(record.reference, .missing)) { _ = try keyring.secret(of: copy) }
    try store.put(try files(record).message, at: copy.files[0])
    #expect(try keyring.check().findings.contains(Finding(copy.files[0], .damaged(.notAsRecorded))))
  }

  @Test func `repair never accepts the restored file of an older version`() throws {
    let old = try files(record)
    let new = try keyring.update(record, secret: SecretBytes(text: "second"))
    try store.put(old.message, at: store.secretFile(record))
    let finding = Finding(store.secretFile(record), .damaged(.notAsRecorded))
    #expect(try keyring.repair().findings == [finding])
    #expect(try keyring.find(Query()).items == [new])
    #expect(throws: KeyringError.itemDamaged(new.reference, .notAsRecorded)) { _ = try keyring.text(of: new) }
    // Deleting the item moves its files to quarantine, where the old secret can be found.
    try keyring.delete([new])
    #expect(try keyring.check().isClean)
    let kept = try #require(try store.tree().list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try store.bytes(".keytree/\(kept)/\(store.secretFile(record))") == old.message)
  }
}
