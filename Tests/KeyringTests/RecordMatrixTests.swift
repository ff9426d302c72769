import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests every part of an item that someone could change without permission, with every operation: no forged value is
/// used, and no secret is released (DESIGN section 5).
@Suite(.serialized, .slow) struct RecordMatrixTests {
  /// A part of an item: a member of its line, of its proof, or the encrypted file.
  enum Part: Hashable, CustomStringConvertible {
    case line(String)
    case proof(String)
    case message

    var description: String {
      switch self {
      case .line(let name): "line \(name)"
      case .proof(let name): "proof \(name)"
      case .message: "encrypted file"
      }
    }
  }

  /// The change to the part, or the signer of the record with a changed part.
  enum Forgery: CaseIterable {
    case changed, removed, added, fromAnotherItem, fromAnOlderVersion
    case signedByStranger, signedByFormerMember, signedByMemberOfAnotherGroup
  }

  /// The operations of the library.
  enum Operation: CaseIterable { case secret, update, updateSecret, duplicate, delete, transaction }

  private static let members = [
    "account", "class", "created", "custom", "group", "id", "label", "modified", "port", "protocol",
    "revision",
    "sealed", "secretModified", "server",
  ]
  private static let parts: [Part] =
    members.map { .line($0) } + ["leaf", "path", "root", "signature"].map { .proof($0) } + [.message]

  private let store = StandInStore()
  private let keyring: Keyring
  private let item: ItemRecord
  private let files: Files
  private let other: Files
  private let older: Files
  private let former = EngineDouble.fingerprint(2)
  private let opsOnly = EngineDouble.fingerprint(3)
  private let stranger = EngineDouble.fingerprint(9)

  /// The two files of an item, parsed.
  private struct Files {
    var line: [JSONMember]
    var proof: [JSONMember]
    var message: [UInt8]

    var record: [UInt8] {
      JSONValue.object(line).canonicalBytes + [10] + JSONValue.object(proof).canonicalBytes + [10]
    }
  }

  private static func members(_ bytes: [UInt8]) throws -> [JSONMember] {
    let limits = JSONLimits(size: 1 << 16, depth: 6)
    guard case .object(let members) = try JSONValue(parsing: bytes, limits: limits) else { return [] }
    return members
  }

  private static func read(_ record: ItemRecord, _ store: StandInStore) throws -> Files {
    let lines = try #require(try store.bytes(store.recordFile(record))).split(separator: 10)
    return Files(
      line: try members(Array(lines[0])), proof: try members(Array(lines[1])),
      message: try #require(try store.bytes(store.secretFile(record))))
  }

  init() throws {
    try store.create()
    try store.join(former, "default")
    try store.join(opsOnly, "ops")
    keyring = try store.open()
    func login(_ server: String, _ label: String) -> NewItem {
      .login(
        server, "alice",
        [
          .label: .string(label), .port: .integer(server.hasPrefix("a") ? 443 : 22), .protocol: "https",
          "url": .string(label),
        ])
    }
    // Added together with a third item, so that the path is not empty.
    let outcomes = try keyring.addAll(
      [login("a.example", "one"), login("b.example", "two"), .login("c.example", "me")],
      secret: { SecretBytes(text: "first \($0)") })
    guard case .added(let first) = outcomes[0], case .added(let second) = outcomes[1] else {
      throw KeyringError.itemNotFound
    }
    older = try Self.read(first, store)
    try keyring.transaction { changes throws(KeyringError) in
      let set: Attributes = [.label: "newer", "url": "newer"]
      try changes.update(first, AttributeChanges(set: set), secret: SecretBytes(text: "second"))
      try changes.update(second, .set(.comment, "with it"))
    }
    try store.remove(former)
    try store.open().reencryptOutdated()
    item = try #require(try store.open().find(Query(text: "a.example")).items.first)
    (files, other) = (try Self.read(item, store), try Self.read(second, store))
  }

  // MARK: Forging

  /// Returns another value of the same form.
  private static func changed(_ value: JSONValue, _ name: String) -> JSONValue {
    switch value {
    case .integer(let number): return .integer(number + 1)
    case .array(let elements): return .array(Array(elements.reversed()) + [.string("x")])
    case .object(let members): return .object(members.map { JSONMember($0.name, changed($0.value, name)) })
    case .string("internet-password"): return .string("generic-password")
    case .string("default"): return .string("ops")
    case .string(let text):
      // Change the year of a date, a digit of an id or digest, or a letter of a name.
      let place = text.index(text.startIndex, offsetBy: min(3, text.count - 1))
      let digit = text[place] == "7" ? "8" : "7"
      return .string(text.replacingCharacters(at: place, with: digit))
    default: return .null
    }
  }

  /// Returns the members with one of them forged, or nil if that is not possible or changes nothing.
  private func forge(_ name: String, _ forgery: Forgery, _ part: KeyPath<Files, [JSONMember]>)
    -> [JSONMember]?
  {
    var members = files[keyPath: part]
    let place = members.firstIndex { $0.name == name }
    switch forgery {
    case .removed:
      guard let place else { return nil }
      members.remove(at: place)
    case .added: members.insert(JSONMember(name + "x", .string("x")), at: (place ?? 0) + 1)
    case .fromAnotherItem, .fromAnOlderVersion:
      let source = forgery == .fromAnotherItem ? other : older
      guard let place, let value = source[keyPath: part].first(where: { $0.name == name })?.value else {
        return nil
      }
      members[place] = JSONMember(name, value)
    default:
      guard let place else { return nil }
      members[place] = JSONMember(name, Self.changed(members[place].value, name))
    }
    return members == files[keyPath: part] ? nil : members
  }

  private func signer(_ forgery: Forgery) -> Fingerprint? {
    switch forgery {
    case .signedByStranger: stranger
    case .signedByFormerMember: former
    case .signedByMemberOfAnotherGroup: opsOnly
    default: nil
    }
  }

  /// Returns the item with one part forged, or nil if there is no such forgery.
  private func forged(_ part: Part, _ forgery: Forgery) throws -> Files? {
    var result = files
    switch part {
    case .line(let name):
      guard let line = forge(name, forgery, \.line) else { return nil }
      result.line = line
    case .proof(let name):
      // A forger signs a line and gets a proof with the signature, so the proof itself need not be forged.
      guard signer(forgery) == nil, let proof = forge(name, forgery, \.proof) else { return nil }
      result.proof = proof
    case .message:
      switch forgery {
      case .changed: result.message[result.message.count - 2] ^= 1
      case .removed: result.message = []
      case .added: result.message.append(0)
      case .fromAnotherItem: result.message = other.message
      case .fromAnOlderVersion: result.message = older.message
      case .signedByStranger, .signedByFormerMember, .signedByMemberOfAnotherGroup:
        // The forger's own secret, and a line that describes it.
        result.message = try store.engine.seal(SecretBytes(text: "forged"), to: [store.owner])
        let digest = JSONValue.string(ContentDigest(of: result.message).base64url)
        result.line = result.line.map { $0.name == "sealed" ? JSONMember("sealed", digest) : $0 }
      }
    }
    guard let signer = signer(forgery) else { return result }
    let line = JSONValue.object(result.line).canonicalBytes
    let tree = MerkleTree(leaves: [MerkleTree.leaf(of: line)])
    let statement = SignedRoot(
      keyring: keyring.policy.keyring, root: tree.root, leaves: 1, time: store.host.clock())
    let signature = try store.engine.signMessage(statement.encode(), signer: signer)
    result.proof = try Self.members(
      RecordProof(leaf: 0, path: [], root: tree.root, signature: signature).encode())
    return result
  }

  // MARK: Operations

  private func perform(_ operation: Operation, _ keyring: Keyring, on record: ItemRecord) throws {
    switch operation {
    // This function releases kept secrets, too.
    case .secret: _ = try keyring.secret(for: record, matching: nil) { _ in false }
    case .update: try keyring.update(record, .set(.comment, "c"))
    case .updateSecret: try keyring.update(record, secret: SecretBytes(text: "t"))
    case .duplicate: try keyring.duplicate(record, as: .login("copy.example", "me"))
    case .delete: try keyring.delete([record])
    case .transaction:
      try keyring.transaction { changes throws(KeyringError) in
        try changes.add(.login("new.example", "me"), secret: SecretBytes(text: "n"))
        let renamed = try changes.update(record, .set(.account, "renamed"))
        try changes.update(renamed, AttributeChanges(), secret: SecretBytes(text: "t"))
      }
    }
  }

  /// The line in the index: the original one, or the forged one, which a forger would write, too.
  enum Index: CaseIterable { case asBefore, asForged }

  /// The state of the process when the forger changes the files: without any memory of the item, or after it has verified
  /// and decrypted the item, and has kept both.
  enum Process: CaseIterable { case new, remembering }

  private func open(_ process: Process) throws -> Keyring {
    guard process == .remembering else { return try store.open() }
    var host = store.host
    host.secretLifetime = .seconds(3600)
    let keyring = try Keyring.open(at: store.path, host: host, faults: nil, engine: store.engine)
    let record = try #require(try keyring.find(Query(predicates: [.path(item.path)])).items.first)
    for _ in 0..<2 { try perform(.secret, keyring, on: record) }
    return keyring
  }

  @Test(arguments: Process.allCases)
  func `no forged part of an item is used, and no secret is released`(process: Process) throws {
    let paths = [store.recordFile(item), store.secretFile(item), store.shardFile(item)]
    let good = try paths.map { try store.bytes($0) }
    var (cases, refused, quarantined) = (0, 0, 0)
    for part in Self.parts {
      for forgery in Forgery.allCases {
        guard let forged = try forged(part, forgery) else { continue }
        for index in Index.allCases {
          let line = JSONValue.object(forged.line).canonicalBytes
          let isInIndex = index == .asForged && forged.line != files.line
          // A line that cannot be parsed, or has another path, is not an item of this path.
          if isInIndex, (try? IndexLine.parse(line))?.path != item.path { continue }
          if index == .asForged, !isInIndex { continue }
          for operation in Operation.allCases {
            let keyring = try open(process)
            try store.put(forged.record, at: paths[0])
            try store.put(forged.message, at: paths[1])
            if isInIndex { try store.putLine(try IndexLine.parse(line)) }
            let found = try keyring.find(Query(predicates: [.path(item.path)])).items
            let record = try #require(found.first)
            let before = StoreDigest(of: store.path)
            let statistics = store.engine.statistics
            cases += 1
            do {
              try perform(operation, keyring, on: record)
              // Files that cannot be verified are not deleted but quarantined.
              #expect(operation == .delete, "\(part) \(forgery) \(operation) \(index)")
              let folder = try #require(
                try store.tree().list(".keytree").first { $0.hasPrefix("quarantine-") })
              #expect(try store.bytes(".keytree/\(folder)/\(paths[0])") == forged.record)
              ScratchFolder.remove("\(store.path)/.keytree/\(folder)")
              quarantined += 1
            } catch {
              let isRefusal =
                switch error as? KeyringError {
                case .itemDamaged, .bindingMismatch: true
                default: false
                }
              #expect(isRefusal, "\(part) \(forgery) \(operation) \(index): \(error)")
              let after = StoreDigest(of: store.path)
              #expect(after == before, "\(part) \(forgery) \(operation): \(after.difference(from: before))")
              refused += 1
            }
            #expect(
              store.engine.statistics.decryptions == statistics.decryptions, "\(part) \(forgery) \(operation)"
            )
            for (path, bytes) in zip(paths, good) { try store.put(bytes, at: path) }
          }
        }
      }
    }
    #expect(cases == refused + quarantined)
    print("forged parts: \(cases) cases, \(refused) refused, \(quarantined) quarantined")
    #expect(cases == Self.expectedCases)
    // Every sixth case is a removal.
    #expect(quarantined == Self.expectedCases / 6)
    let keyring = try store.open()
    #expect(try keyring.check(decrypts: true).isClean)
    #expect(try keyring.text(of: item) == "second")
  }

  /// The number of all forgeries, each with the six operations.
  private static let expectedCases: Int = {
    // Ten members of the line differ between the two items, and six between the two versions. Every change can be
    // signed.
    let ofLine = 3 * 14 + 10 + 6 + 3 * 14
    // Both items have the root and signature of one transaction, and both versions are the first leaf.
    let ofProof = 3 * 4 + 2 + 3
    let ofMessage = 8
    // Forgeries in the index, too, are lines that can be parsed and have the same path: eight members can be changed,
    // two can be removed, and any can be added. Three lines describe a forger's own file.
    let inIndex = 8 + 2 + 14 + 8 + 6 + 3 * 8 + 3
    return 6 * (ofLine + ofProof + ofMessage + inIndex)
  }()

  // MARK: Index lines

  @Test(arguments: Operation.allCases)
  func `a line that differs from its record is refused with the attribute's name, and repair corrects it`(
    operation: Operation
  ) throws {
    var count = 0
    for name in Self.members
    where !["account", "class", "group", "port", "protocol", "server"].contains(name) {
      guard let line = forge(name, .changed, \.line) else { continue }
      let forged = try IndexLine.parse(JSONValue.object(line).canonicalBytes)
      // A digest and a custom attribute are reported by their own names.
      let expected = AttributeName(name == "custom" ? "url" : name)
      try store.putLine(forged)
      let keyring = try store.open()
      let found = try #require(try keyring.find(Query(predicates: [.path(item.path)])).items.first)
      #expect(found == forged)
      #expect(throws: KeyringError.bindingMismatch(item.reference, .index(expected)), "\(name)") {
        try perform(operation, keyring, on: found)
      }
      let finding = Finding(store.recordFile(item), .bindingMismatch(.index(expected)))
      #expect(try keyring.check().findings == [finding])
      let statistics = store.engine.statistics
      #expect(try keyring.repair().isClean)
      #expect(store.engine.statistics.signatures == statistics.signatures)
      #expect(store.engine.statistics.decryptions == statistics.decryptions)
      #expect(try keyring.find(Query(predicates: [.path(item.path)])).items == [item])
      count += 1
    }
    #expect(count == 8)
  }

  // MARK: An insider

  @Test(arguments: Operation.allCases)
  func `a member of one group cannot present the file of another group as an item of their own`(
    operation: Operation
  ) throws {
    // The owner is in both groups. The insider is in one of them and cannot read the file.
    let keyring = try store.open()
    var forged = item
    forged.group = "ops"
    forged.attributes[.server] = "evil.example"
    let record = try store.sign([forged], by: opsOnly, for: keyring.policy.keyring)[0]
    try store.put(record.bytes, at: store.recordFile(forged))
    try store.put(files.message, at: store.secretFile(forged))
    try store.putLine(forged)
    let found = try #require(try keyring.find(Query(text: "evil.example")).items.first)
    let before = store.engine.statistics
    let readers = KeyringError.bindingMismatch(forged.reference, .readers)
    if operation == .delete {
      try perform(operation, keyring, on: found)
      #expect(try store.tree().list(".keytree").contains { $0.hasPrefix("quarantine-") })
    } else {
      #expect(throws: readers) { try perform(operation, keyring, on: found) }
      #expect(throws: readers) { _ = try keyring.text(of: found) }
      #expect(
        try keyring.check().findings.contains(Finding(store.secretFile(forged), .bindingMismatch(.readers))))
    }
    #expect(store.engine.statistics.decryptions == before.decryptions)
    #expect(store.engine.statistics.signatures == before.signatures)
  }

  @Test func `an insider's record is not signed again in a change of the group`() throws {
    let keyring = try store.open()
    var forged = item
    forged.group = "ops"
    let record = try store.sign([forged], by: opsOnly, for: keyring.policy.keyring)[0]
    try store.put(record.bytes, at: store.recordFile(forged))
    try store.put(files.message, at: store.secretFile(forged))
    try store.putLine(forged)
    let before = StoreDigest(of: store.path)
    #expect(throws: KeyringError.self) {
      try keyring.make(try keyring.plan([.remove(opsOnly)]))
    }
    #expect(StoreDigest(of: store.path) == before)
  }

  @Test func `a user cannot sign for a file that they cannot read`() throws {
    let (one, two) = (store.owner, EngineDouble.fingerprint(4))
    // A new member before the items of the group are re-encrypted, as after a merge.
    try store.join(two, "default")
    let newcomer = EngineDouble(readers: [two])
    var host = store.host
    host.stateBase = "\(store.folder.path)/state-two"
    _ = newcomer.with(keys: [one: [1], two: Array(two.text.utf8)])
    try Trust(at: store.path, host: host, engine: newcomer, own: [two]).accept()
    let keyring = try Keyring.open(at: store.path, host: host, faults: nil, engine: newcomer)
    let before = StoreDigest(of: store.path)
    #expect { try keyring.update(item, .set(.label, "x")) } throws: { error in
      if case KeyringError.engine(.notARecipient, _) = error { true } else { false }
    }
    #expect(StoreDigest(of: store.path) == before)
    // A new secret of theirs can be read by all.
    let new = try keyring.update(item, secret: SecretBytes(text: "new"))
    #expect(try store.open().text(of: new) == "new")
  }
}

extension String {
  fileprivate func replacingCharacters(at place: Index, with text: String) -> String {
    self[..<place] + text + self[index(after: place)...]
  }
}
