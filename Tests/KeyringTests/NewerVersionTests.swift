import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// Tests that data of a newer version of Keytree is neither interpreted nor quarantined.
@Suite(.serialized) struct NewerVersionTests {
  @Test func `a record of a newer format is left unchanged, even by repair`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let file = try RecordFile(parsing: try #require(try store.bytes(store.recordFile(record))))
    let content = String(decoding: try #require(SignedMessage(file.proof.signature)).content, as: UTF8.self)
    let newer = Array(content.replacing(#""format":1"#, with: #""format":2"#).utf8)
    let proof = RecordProof(
      leaf: file.proof.leaf, path: file.proof.path, root: file.proof.root,
      signature: try store.engine.signMessage(newer, signer: store.owner))
    let bytes = RecordFile(line: file.line, record: record, proof: proof).bytes
    try store.put(bytes, at: store.recordFile(record))
    let finding = Finding(store.recordFile(record), .damaged(.badRecord(.noStatement)))
    #expect(try keyring.check(decrypts: true).findings == [finding])
    #expect(try keyring.repair().findings == [finding])
    #expect(try store.bytes(store.recordFile(record)) == bytes)
    #expect(throws: KeyringError.itemDamaged(record.reference, .badRecord(.noStatement))) {
      _ = try keyring.text(of: record)
    }
  }

  @Test func `unknown members of a newer version survive a change, and are signed again`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    var record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    record.unknown = [JSONMember("zz-new", .array([.integer(1), .string("x")]))]
    try store.put(
      store.sign([record], by: store.owner, for: keyring.policy.keyring)[0].bytes,
      at: store.recordFile(record))
    #expect(throws: KeyringError.self) { _ = try keyring.text(of: keyring.find(Query()).items[0]) }
    #expect(try keyring.repair().isClean)
    #expect(try keyring.text(of: keyring.find(Query()).items[0]) == "s")
    let new = try keyring.update(record, .set(.label, "x"), secret: SecretBytes(text: "t"))
    #expect(new.unknown == record.unknown)
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `a pending transaction of a newer version is not quarantined by repair`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let tree = try store.tree()
    let commit = ".keytree/transaction-00/commit.json"
    let bytes = Array(#"{"format":2,"steps":[]}"#.utf8) + [10]
    try tree.createFile(commit, bytes)
    for attempt in [
      { _ = try keyring.repair() },
      { try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s")) },
    ] as [() throws -> Void] {
      #expect(throws: KeyringError.transactionUnknown(folder: ".keytree/transaction-00")) { try attempt() }
    }
    #expect(try tree.read(commit, limit: 1000) == bytes)
  }

  @Test func `the largest item that can be stored can be read`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    func item(last size: Int) -> NewItem {
      var item = NewItem.login("github.com", "alice")
      for number in 0..<4 {
        item.attributes[AttributeName("filler\(number)")] = .string(String(repeating: "x", count: 3900))
      }
      item.attributes["last"] = .string(String(repeating: "x", count: size))
      return item
    }
    let small = try keyring.add(item(last: 1), secret: SecretBytes(text: "s"))
    let room = IndexLine.maximumSize - (try IndexLine.encode(small).count)
    try keyring.delete([small])
    let secret = SecretBytes(copying: [UInt8](repeating: 7, count: StoreLayout.secretLimit))
    let record = try keyring.add(item(last: 1 + room), secret: secret)
    #expect(try IndexLine.encode(record).count == IndexLine.maximumSize)
    let read = try keyring.secret(for: record)
    let isSame = read.isEqual(to: secret)
    #expect(isSame)
    #expect(throws: KeyringError.self) {
      try keyring.add(item(last: 2 + room), secret: SecretBytes(text: "s"))
    }
  }
}
