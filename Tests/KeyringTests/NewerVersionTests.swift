import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// What a newer version of Keytree has written is neither guessed at nor put aside.
@Suite struct NewerVersionTests {
  @Test func `an item of a newer format is left alone, also by repair`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    let bytes = try #require(try tree.read(file, limit: 1 << 20))
    let opened = try store.engine.open(bytes, limit: 1 << 20)
    let newer = opened.plaintext.text().replacing(#""format":1"#, with: #""format":2"#)
    let sealed = try store.engine.seal(SecretBytes(text: newer), to: [store.owner], signer: store.owner)
    try tree.replaceFile(file, with: sealed, temporary: "tmp")
    try tree.remove(StoreLayout.shardFile(record.path.shard, isLocal: false))
    let report = try keyring.repair()
    #expect(report.findings == [Finding(file, .notInIndex)])
    #expect(try tree.read(file, limit: 1 << 20) == sealed)
    #expect(
      try keyring.check(decrypts: true).findings.contains(Finding(file, .damaged(.unknownFormat(2)))))
  }

  @Test func `a change that a newer version has begun is not put aside by repair`() throws {
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

  @Test func `a line in the wrong shard is found, and changed only after repair`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    try tree.rename(StoreLayout.shardFile(record.path.shard, isLocal: false), to: "index/00.jsonl")
    #expect(try keyring.find(Query(text: "github.com")).items == [record])
    #expect(throws: KeyringError.itemDamaged(record.reference, .lineMisplaced)) {
      try keyring.update(record, secret: SecretBytes(text: "t"))
    }
    #expect(try keyring.repair().findings.isEmpty)
    #expect(try keyring.text(of: try keyring.update(record, secret: SecretBytes(text: "t"))) == "t")
  }
}
