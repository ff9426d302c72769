import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the answers and the errors when files are not as they should be.
@Suite(.serialized, .slow) struct DamageTests {
  private let store = StandInStore()
  private let keyring: Keyring

  init() throws { keyring = try store.create() }

  private func add(_ server: String = "github.com", _ secret: String = "s") throws -> ItemRecord {
    try keyring.add(.login(server, "alice"), secret: SecretBytes(text: secret))
  }

  private func error(_ body: () throws -> Void) -> KeyringError? {
    do {
      try body()
      return nil
    } catch {
      return error as? KeyringError
    }
  }

  /// The files that are swapped between two items.
  enum Swap: CaseIterable { case secretFiles, records, both }

  @Test(arguments: Swap.allCases)
  func `no swap of two item files releases a secret`(swap: Swap) throws {
    let items = (0..<20).map { NewItem.login("host\($0).example", "me") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "secret \($0)") })
    let records = try keyring.find(Query()).items
    var refused = 0
    for left in records {
      for right in records where right != left {
        var files: [(String, String)] = []
        if swap != .records { files.append((store.secretFile(left), store.secretFile(right))) }
        if swap != .secretFiles { files.append((store.recordFile(left), store.recordFile(right))) }
        let own = try files.map { try store.bytes($0.0) }
        for (old, new) in files { try store.put(store.bytes(new), at: old) }
        let reference = left.reference
        let expected: KeyringError =
          swap == .secretFiles
          ? .itemDamaged(reference, .notAsRecorded) : .bindingMismatch(reference, .place)
        if error({ _ = try keyring.text(of: left) }) == expected { refused += 1 }
        for ((file, _), bytes) in zip(files, own) { try store.put(bytes, at: file) }
      }
    }
    #expect(refused == 380)
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `an index line that points a server at another item's file releases nothing`() throws {
    let record = try add()
    var forged = record
    forged.attributes[.server] = .string("evil.example")
    try store.put(store.bytes(store.secretFile(record)), at: store.secretFile(forged))
    try store.put(store.bytes(store.recordFile(record)), at: store.recordFile(forged))
    try store.putLine(forged)
    let found = try #require(try keyring.find(Query(text: "evil.example")).items.first)
    #expect(throws: KeyringError.bindingMismatch(found.reference, .place)) { _ = try keyring.text(of: found) }
  }

  @Test func `a second line with the id of an item does not release that item's secret`() throws {
    let record = try add()
    var forged = record
    forged.attributes[.server] = .string("evil.example")
    try store.putLine(forged)
    let query = Query(predicates: [.equal(.server, "evil.example")])
    let found = try #require(try keyring.find(query).items.first)
    for asked in [nil, query, Query(itemClass: .internetPassword), Query(predicates: [.id(found.id)])] {
      #expect(throws: KeyringError.itemDamaged(found.reference, .missing)) {
        _ = try keyring.secret(for: found, matching: asked)
      }
    }
    #expect(try keyring.text(of: record) == "s")
  }

  @Test func `an old encrypted file is refused, and so is an old file with its record`() throws {
    let old = try add("github.com", "old")
    let files = [store.secretFile(old), store.recordFile(old)]
    let bytes = try files.map { try store.bytes($0) }
    let new = try keyring.update(old, secret: SecretBytes(text: "new"))
    try store.put(bytes[0], at: files[0])
    #expect(throws: KeyringError.itemDamaged(new.reference, .notAsRecorded)) { _ = try keyring.text(of: new) }
    try store.put(bytes[1], at: files[1])
    #expect(throws: KeyringError.bindingMismatch(new.reference, .index(.revision))) {
      _ = try keyring.text(of: new)
    }
    #expect(throws: KeyringError.bindingMismatch(new.reference, .index(.revision))) {
      try keyring.update(new, .set(.label, "x"))
    }
    #expect(
      try keyring.check().findings == [Finding(files[1], .bindingMismatch(.index(.revision)))])
  }

  @Test func `a newer item with an older line is not released until the index is repaired`() throws {
    let old = try add("github.com", "old")
    let shard = try store.bytes(store.shardFile(old))
    let new = try keyring.update(old, secret: SecretBytes(text: "new"))
    try store.put(shard, at: store.shardFile(old))
    for attempt in [
      { _ = try keyring.text(of: old) }, { try keyring.update(old, secret: SecretBytes(text: "newest")) },
      { try keyring.delete([old]) },
    ] as [() throws -> Void] {
      #expect(throws: KeyringError.bindingMismatch(old.reference, .index(.revision))) { try attempt() }
    }
    let signatures = store.engine.statistics.signatures
    let decryptions = store.engine.statistics.decryptions
    #expect(try keyring.repair().findings.isEmpty)
    #expect(store.engine.statistics.signatures == signatures, "no key is needed")
    #expect(store.engine.statistics.decryptions == decryptions)
    #expect(try keyring.find(Query()).items == [new])
    #expect(try keyring.text(of: new) == "new")
  }

  @Test func `a record that is not signed by a member is not accepted`() throws {
    let record = try add()
    let identity = keyring.policy.keyring
    let strangers = [EngineDouble.fingerprint(9), EngineDouble.fingerprint(2)]
    // The key of the second one is known, but that person is in no group.
    _ = store.engine.with(keys: [strangers[1]: [2]])
    for stranger in strangers {
      let forged = try store.sign([record], by: stranger, for: identity)[0]
      try store.put(forged.bytes, at: store.recordFile(record))
      #expect(throws: KeyringError.itemDamaged(record.reference, .badSignature)) {
        _ = try keyring.text(of: record)
      }
    }
    let unsigned = try RecordFile(parsing: try #require(try store.bytes(store.recordFile(record))))
    let proof = RecordProof(
      leaf: unsigned.proof.leaf, path: unsigned.proof.path, root: unsigned.proof.root, signature: [])
    let file = RecordFile(line: unsigned.line, record: record, proof: proof)
    try store.put(file.bytes, at: store.recordFile(record))
    #expect(throws: KeyringError.itemDamaged(record.reference, .badRecord(.noStatement))) {
      _ = try keyring.text(of: record)
    }
  }

  @Test func `a record of another keyring is refused, even if a member has signed it`() throws {
    let record = try add()
    var generator = SystemRandomNumberGenerator()
    let other = try store.sign([record], by: store.owner, for: KeyringID(using: &generator))[0]
    try store.put(other.bytes, at: store.recordFile(record))
    #expect(throws: KeyringError.bindingMismatch(record.reference, .keyring)) {
      _ = try keyring.text(of: record)
    }
  }

  /// The kinds of entries that replace a file.
  enum Replacement: CaseIterable { case link, pipe, folder, hardLink }

  @Test(
    "something else in place of an item is refused, and repair quarantines it",
    arguments: Replacement.allCases,
    [StoreLayout.secretExtension, StoreLayout.recordExtension])
  func impostors(_ impostor: Replacement, _ ending: String) throws {
    let record = try add()
    let isRecord = ending == StoreLayout.recordExtension
    let file = isRecord ? store.recordFile(record) : store.secretFile(record)
    let path = "\(store.path)/\(file)"
    #expect(unsafe rename(path, "\(store.folder.path)/original") == 0)
    place(impostor, at: path, store)
    let damaged = KeyringError.itemDamaged(record.reference, .notAFile)
    #expect(throws: damaged) { _ = try keyring.text(of: record) }
    #expect(throws: damaged) { try keyring.update(record, .set(.label, "x")) }
    #expect(throws: KeyringError.self) {
      try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "t"))
    }
    #expect(try keyring.check().findings.contains { $0.path == file })
    let report = try keyring.repair()
    #expect(
      report.findings
        == (isRecord ? [Finding(store.secretFile(record), .notAdopted)] : [Finding(file, .fileMissing)]))
    #expect(report.repairs.contains { if case .quarantined(file, _) = $0 { true } else { false } })
    var info = stat()
    #expect(unsafe lstat(path, &info) != 0, "it is removed from its place")
    #expect(unsafe access("\(store.folder.path)/original", F_OK) == 0, "the target of a link is unchanged")
  }

  @Test(
    "something else in place of a shard or the policy is an error, never treated as empty",
    arguments: Replacement.allCases)
  func impostorShards(_ impostor: Replacement) throws {
    for isPolicy in [false, true] {
      let store = StandInStore()
      let keyring = try store.create()
      let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
      let name = isPolicy ? "policy.json" : StoreLayout.shardFile(record.path.shard, isLocal: false)
      let path = "\(store.path)/\(name)"
      #expect(unsafe rename(path, "\(store.folder.path)/original") == 0)
      place(impostor, at: path, store)
      #expect(throws: KeyringError.self) {
        let keyring = try store.open()
        _ = try keyring.find(Query())
      }
      #expect(throws: KeyringError.self) { try keyring.update(record, secret: SecretBytes(text: "t")) }
    }
  }

  private func place(_ impostor: Replacement, at path: String, _ store: StandInStore) {
    let original = "\(store.folder.path)/original"
    switch impostor {
    case .link: #expect(unsafe symlink(original, path) == 0)
    case .pipe: #expect(unsafe mkfifo(path, 0o600) == 0)
    case .folder: #expect(unsafe mkdir(path, 0o700) == 0)
    case .hardLink: #expect(unsafe link(original, path) == 0)
    }
  }

  @Test func `a damaged line disables only itself and stops writes to its shard until repaired`() throws {
    let record = try add()
    let shard = store.shardFile(record)
    let good = try #require(try store.bytes(shard))
    let bad = Array("{\"server\":\"github.com\",\"server\":\"github.com\"}\n".utf8)
    try store.put(good + bad, at: shard)
    let matches = try keyring.find(Query(text: "github.com"))
    #expect(matches.items == [record] && matches.problems.count == 1)
    #expect(try keyring.text(of: record) == "s")
    #expect { try keyring.update(record, .set(.label, "x")) } throws: { error in
      guard case KeyringError.shardDamaged(file: shard, _) = error else { return false }
      return true
    }
    #expect(try store.bytes(shard) == good + bad)
    let report = try keyring.repair()
    #expect(report.findings.isEmpty)
    #expect(try store.bytes(shard) == good)
    let kept = try #require(try store.tree().list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try store.bytes(".keytree/\(kept)/\(shard)") == bad)
    #expect(try keyring.update(record, .set(.label, "x")).attributes[.label] == .string("x"))
  }

  @Test func `a lost index is rebuilt from the records, exactly and without a key`() throws {
    let items = (0..<40).map {
      NewItem.login("host\($0).example", "me", [.label: .string("l\($0)"), "url": .string("u")])
    }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    let before = try keyring.find(Query()).items
    let digest = StoreDigest(of: store.path)
    ScratchFolder.remove("\(store.path)/index")
    let findings = try keyring.check().findings
    #expect(findings.count == 40 && findings.allSatisfy { $0.kind == .notInIndex })
    let statistics = store.engine.statistics
    let report = try keyring.repair()
    #expect(report.findings.isEmpty && report.items == 40)
    #expect(store.engine.statistics.decryptions == statistics.decryptions)
    #expect(store.engine.statistics.signatures == statistics.signatures)
    #expect(try keyring.find(Query()).items == before)
    #expect(StoreDigest(of: store.path) == digest, "the index has exactly the first line of every record")
  }

  @Test func `repair moves the swapped files of two items back to their places`() throws {
    let (a, b) = (try add("a.example", "a"), try add("b.example", "b"))
    for (left, right) in [
      (store.secretFile(a), store.secretFile(b)), (store.recordFile(a), store.recordFile(b)),
    ] {
      let (first, second) = (try store.bytes(left), try store.bytes(right))
      try store.put(second, at: left)
      try store.put(first, at: right)
    }
    let report = try keyring.repair()
    #expect(report.findings.isEmpty, "\(report.findings)")
    #expect(try keyring.text(of: a) == "a" && keyring.text(of: b) == "b")
  }

  @Test func `repair moves the files of an item from a wrong place to their own`() throws {
    let record = try add()
    let other = try #require(ItemPath(validating: "internet-password/evil.example/alice"))
    for (file, path) in [
      (store.secretFile(record), StoreLayout.itemFile(other, isLocal: false)),
      (store.recordFile(record), StoreLayout.recordFile(other, isLocal: false)),
    ] {
      let bytes = try store.bytes(file)
      try store.put(nil, at: file)
      try store.put(bytes, at: path)
    }
    let report = try keyring.repair()
    #expect(report.findings.isEmpty, "\(report.findings)")
    #expect(
      report.repairs.contains(
        .movedItem(from: StoreLayout.itemFile(other, isLocal: false), to: store.secretFile(record))))
    #expect(try keyring.find(Query()).items == [record])
    #expect(try keyring.text(of: record) == "s")
  }

  @Test func `a file that another program has created is reported and left unchanged`() throws {
    let file = "items/internet-password/github.com/alice.gpg"
    try store.put([1, 2, 3], at: file)
    #expect { try add() } throws: { error in
      guard case KeyringError.itemDamaged(_, .noRecord) = error else { return false }
      return true
    }
    #expect(try keyring.check().findings == [Finding(file, .notAdopted)])
    #expect(try keyring.repair().findings == [Finding(file, .notAdopted)])
    #expect(try store.bytes(file) == [1, 2, 3])
    #expect(try keyring.find(Query()).items.isEmpty)
  }

  @Test func `deleting an item whose files are not verified moves them to quarantine`() throws {
    for ending in [StoreLayout.secretExtension, StoreLayout.recordExtension] {
      let record = try add("host\(ending).example")
      let files = [store.secretFile(record), store.recordFile(record)]
      let damaged = ending == StoreLayout.secretExtension ? 0 : 1
      try store.put([1, 2, 3], at: files[damaged])
      let before = try files.map { try store.bytes($0) }
      try keyring.delete([record])
      #expect(try keyring.find(Query()).items.isEmpty)
      let folders = try store.tree().list(".keytree").filter { $0.hasPrefix("quarantine-") }
      let kept = try #require(folders.sorted().last)
      #expect(try files.map { try store.bytes(".keytree/\(kept)/\($0)") } == before)
      #expect(try keyring.check().isClean)
    }
  }

  @Test func `an item whose encrypted file is gone keeps its line and its record`() throws {
    let record = try add()
    try store.put(nil, at: store.secretFile(record))
    let missing = KeyringError.itemDamaged(record.reference, .missing)
    #expect(throws: missing) { _ = try keyring.text(of: record) }
    #expect(throws: missing) { try keyring.update(record, .set(.label, "x")) }
    #expect(throws: missing) { try add() }
    // The file can be restored from the history.
    #expect(try keyring.repair().findings == [Finding(store.secretFile(record), .fileMissing)])
    #expect(try keyring.find(Query()).items == [record])
    try keyring.delete([record])
    #expect(try keyring.check().isClean)
  }

  @Test func `repair quarantines a line without any file`() throws {
    let record = try add()
    let line = try store.bytes(store.shardFile(record))
    for file in [store.secretFile(record), store.recordFile(record)] { try store.put(nil, at: file) }
    #expect(throws: KeyringError.itemDamaged(record.reference, .missing)) { _ = try keyring.text(of: record) }
    #expect(try keyring.check().findings == [Finding(store.secretFile(record), .itemMissing)])
    #expect(try keyring.repair().findings.isEmpty)
    #expect(try keyring.find(Query()).items.isEmpty)
    let kept = try #require(try store.tree().list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try store.bytes(".keytree/\(kept)/\(store.shardFile(record))") == line)
  }

  @Test func `a record of any size and content does not keep other items from being checked or repaired`()
    throws
  {
    let (bad, good) = (try add("bad.example"), try add("good.example"))
    let contents: [[UInt8]] = [
      [], [0], Array("{}\n{}\n".utf8), [UInt8](repeating: 10, count: 100),
      [UInt8](repeating: 0x7b, count: StoreLayout.recordFileLimit),
      [UInt8](repeating: 0x7b, count: StoreLayout.recordFileLimit + 1),
    ]
    for content in contents {
      try store.put(content, at: store.recordFile(bad))
      let findings = try keyring.check().findings
      #expect(findings.map(\.path) == [store.recordFile(bad)], "\(content.count): \(findings)")
      let repaired = try keyring.repair()
      #expect(repaired.findings.map(\.path) == [store.recordFile(bad)], "\(content.count): \(repaired)")
      #expect(try keyring.verifiedRecords().records.map(\.record) == [good])
      #expect(try keyring.verifiedRecords().distrusted.map(\.path) == [bad.path])
      #expect(try keyring.text(of: good) == "s")
    }
  }
}
