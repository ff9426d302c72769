import Glibc
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// What a transaction never does: lose an item, block the store, or reach beyond it.
@Suite struct TransactionTests {
  @Test func `an error that is caught inside a transaction stops all of it`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    var set = Attributes()
    set[.server] = .string("z.example")
    let target = try NewItem.login("z.example", "me").path()
    try tree.createFile(StoreLayout.shardFile(target.shard, isLocal: false), Array("{damaged}\n".utf8))
    #expect(throws: KeyringError.self) {
      try keyring.transaction { changes throws(KeyringError) in
        // Caught, as a program may that goes on with the next item.
        _ = try? changes.update(record, AttributeChanges(set: set))
      }
    }
    #expect(try keyring.text(of: record) == "s")
    #expect(try keyring.find(Query(text: "a.example")).items == [record])
  }

  @Test func `an item that is changed and then removed in one transaction is gone, whenever it is killed`()
    throws
  {
    for number in 1...60 {
      let store = StandInStore()
      let keyring = try store.create()
      let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
      let count = Counter()
      let dying = try store.open(faults: { _, _ in count.next() >= number ? .fail(4) : nil })
      _ = try? dying.transaction { changes throws(KeyringError) in
        let changed = try changes.update(record, AttributeChanges(), secret: SecretBytes(text: "t"))
        try changes.delete(changed)
      }
      let after = try store.open().find(Query()).items
      #expect(after == [record] || after.isEmpty, "killed at operation \(number)")
      #expect(try store.open().check(decrypts: true).isClean, "killed at operation \(number)")
    }
  }

  @Test(
    "a record that this program could not have written is not followed",
    arguments: [
      #"{"format":1,"steps":[{"move":"local/index/00.jsonl","path":"leak.jsonl"}]}"#,
      #"{"format":1,"steps":[{"path":".git/config","place":"0"}]}"#,
      #"{"format":1,"steps":[{"path":"items/internet-password/a/b.gpg","place":"../../x"}]}"#,
      #"{"format":1,"steps":[{"remove":".keytree/lock"}]}"#,
      #"{"format":1,"steps":[{"remove":"items/../policy.json"}]}"#,
    ])
  func foreignRecords(_ record: String) throws {
    let store = StandInStore()
    let keyring = try store.create()
    let before = try store.tree().read("policy.json", limit: 1 << 20)
    let folder = ".keytree/transaction-00"
    try store.tree().createFile("\(folder)/commit.json", Array(record.utf8) + [10])
    try store.tree().createFile("\(folder)/0", [1])
    #expect(throws: KeyringError.transactionDamaged(folder: folder)) { try keyring.find(Query()) }
    #expect(try store.tree().read("policy.json", limit: 1 << 20) == before)
    #expect(try store.tree().status("leak.jsonl") == nil)
    #expect(try keyring.repair().isClean)
  }

  @Test func `a record that puts a policy in place, as a merge does, makes nobody trust it`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let folder = ".keytree/transaction-00"
    let record = #"{"format":1,"steps":[{"path":"policy.json","place":"0"}]}"#
    let policy = try #require(try store.tree().read("policy.json", limit: 1 << 20))
    try store.tree().createFile("\(folder)/commit.json", Array(record.utf8) + [10])
    try store.tree().createFile("\(folder)/0", policy + [10])
    _ = try keyring.find(Query())
    #expect(try store.tree().read("policy.json", limit: 1 << 20) == policy + [10])
    #expect {
      _ = try store.open().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    } throws: { error in
      guard case KeyringError.policyNotTrusted = error else { return false }
      return true
    }
  }

  @Test func `a record from elsewhere destroys no item of this machine`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    var item = NewItem.login("a.example", "me")
    item.isLocal = true
    let record = try keyring.add(item, secret: SecretBytes(text: "s"))
    let file = StoreLayout.itemFile(record.path, isLocal: true)
    let bytes = try store.tree().read(file, limit: 1 << 20)
    let steps = "{\"format\":1,\"steps\":[{\"remove\":\"\(file)\"}]}\n"
    try store.tree().createFile(".keytree/transaction-00/commit.json", Array(steps.utf8))
    _ = try keyring.find(Query())
    #expect(try store.tree().read(".keytree/quarantine-interrupted-00/\(file)", limit: 1 << 20) == bytes)
  }

  @Test func `a shard that is too large is put aside, not overwritten`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    let shard = StoreLayout.shardFile(record.path.shard, isLocal: false)
    let good = try #require(try tree.read(shard, limit: 1 << 20))
    let large = good + [UInt8](repeating: 0x20, count: StoreLayout.shardLimit)
    try tree.replaceFile(shard, with: large, temporary: "tmp")
    #expect(try keyring.repair().isClean)
    let kept = try #require(try tree.list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try tree.read(".keytree/\(kept)/\(shard)", limit: large.count) == large)
    #expect(try keyring.find(Query()).items.map(\.id) == [record.id])
  }

  @Test func `folders are made where they belong, whatever script their names are in`() throws {
    let scratch = ScratchFolder()
    for name in ["иван", "e\u{301}", "名前"] {
      #expect(unsafe mkdir("\(scratch.path)/\(name)", 0o700) == 0)
      try StoreFolder.makeFolder("\(scratch.path)/\(name)/.local/state/keytree")
      let tree = try FileTree(at: "\(scratch.path)/\(name)")
      #expect(try tree.status(".local/state/keytree")?.kind == .directory)
      #expect(try tree.list("") == [".local"])
    }
  }
}
