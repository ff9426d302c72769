import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// The documents say what the code does: the worked example, tables, code and names of tests in them.
@Suite struct DocumentationTests {
  static let itemFile = "items/internet-password/github.com/alice.gpg"
  private let format: MarkdownDocument

  init() throws { format = try MarkdownDocument(MarkdownDocument.format) }

  private func example(_ name: String) throws -> [UInt8] {
    Array(try #require(format.example(name)).utf8)
  }

  // MARK: The worked example

  @Test(
    "the worked example shows the files of the fixture, byte for byte",
    arguments: ["policy.json", "index/31.jsonl", ".gitattributes", ".gitignore"])
  func files(_ name: String) throws {
    #expect(try example(name) + [10] == ExampleStore.bytes(name))
  }

  @Test func `the code makes path, shard, line and policy of the worked example`() throws {
    let record = try IndexLine.parse(try example("index/31.jsonl"))
    #expect(record.primaryKey.canonicalJSON == (try example("primary key")))
    #expect(Array(record.path.text.utf8) == (try example("path")))
    #expect(StoreLayout.shardFile(record.path.shard, isLocal: false) == "index/31.jsonl")
    #expect(try IndexLine.encode(record) == example("index/31.jsonl"))
    let shard = Shard(parsing: try ExampleStore.bytes("index/31.jsonl"), number: record.path.shard)
    #expect(shard.problems.isEmpty && shard.isWritable)
    #expect(ContentDigest(of: try ExampleStore.bytes(Self.itemFile)) == record.sealed)
    let policyBytes = try ExampleStore.bytes("policy.json")
    let policy = try Policy.parse(policyBytes)
    #expect(policy.encode() == policyBytes)
    let keys = try policy.people.keys.map { ($0, try ExampleStore.bytes("keys/\($0.text).asc")) }
    let pin = Pin(policy: policy, bytes: policyBytes, keys: Dictionary(uniqueKeysWithValues: keys))
    #expect(pin.encode() == (try example("pin.json")) + [10])
  }

  @Test func `the item of the worked example decrypts to the plaintext on the page`() throws {
    let gnupg = try GnuPGHome(secret: [.alice])
    let plaintext = try example("plaintext")
    let message = try ExampleStore.bytes(Self.itemFile)
    #expect(try gnupg.run(["--decrypt"], input: message) == plaintext)
    let header = try ItemHeader.parse(Array(plaintext.prefix { $0 != 10 }))
    #expect(try header.encode() == Array(plaintext.prefix { $0 != 10 }))
    let record = try IndexLine.parse(try example("index/31.jsonl"))
    #expect(header.path == record.path && header.revision == record.revision)
    #expect(header.modified < record.modified && header.attributes["url"] == nil)
  }

  @Test func `the store of the worked example can be trusted, checked, read and changed`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    try copyExample(to: store.path)
    try Trust(at: store.path, host: store.host).accept()
    let keyring = try store.open()
    let pin = "\(store.host.stateBase)/\(keyring.policy.keyring.hex)/pin.json"
    #expect(Array(try Data(contentsOf: URL(fileURLWithPath: pin))) == (try example("pin.json")) + [10])
    #expect(try keyring.check(decrypts: true).findings == [])
    let record = try #require(try keyring.find(Query()).items.first)
    #expect(try keyring.text(of: record) == "open sesame")
    try keyring.update(record, AttributeChanges(clear: ["url"]))
    #expect(try keyring.check(decrypts: true).findings == [])
  }

  private func copyExample(to path: String) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let tree = try FileTree(at: path)
    for file in try ExampleStore.paths() { try tree.createFile(file, ExampleStore.bytes(file)) }
  }

  @Test func `every path on the page is the one of its primary key`() throws {
    let lines = try #require(format.example("paths")).split(separator: "\n")
    #expect(lines.count >= 30)
    for index in stride(from: 0, to: lines.count, by: 2) {
      let key = try primaryKey(Array(lines[index].utf8))
      let path = ItemPath(key)
      #expect(String(decoding: key.canonicalJSON, as: UTF8.self) == lines[index])
      #expect("  \(path.text) \(StoreLayout.shardName(path.shard).prefix(2))" == lines[index + 1])
    }
  }

  private func primaryKey(_ json: [UInt8]) throws -> PrimaryKey {
    // A line needs more than a primary key, and reads values of every type.
    let rest = """
      ,"created":"2026-01-15T09:30:00Z","id":"9c1d4e7ab35f40268d2e6b81f7c0a953",\
      "modified":"2026-01-15T09:30:00Z","revision":"52e8b0d76f194ac3a7d4183c9be06f25",\
      "sealed":"3jWdaXiQhJuc454WwDI-wNk0VN0oyYKOnbemeEBVn94","secretModified":"2026-01-15T09:30:00Z"}
      """
    return try IndexLine.parse(json.dropLast() + Array(rest.utf8)).primaryKey
  }

  // MARK: Files that a writer makes

  @Test func `a new store has the git files on the page`() throws {
    let store = StandInStore()
    try store.create()
    for name in [".gitattributes", ".gitignore"] {
      #expect(try store.tree().read(name, limit: 1000) == example(name) + [10])
    }
  }

  @Test func `the record of a transaction on the page does what the page says`() throws {
    let store = StandInStore()
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    var edited = record
    edited.attributes[.label] = "staged"
    let folder = ".keytree/transaction-0123456789abcdef0123456789abcdef"
    try tree.createFile("items/notes.txt", [1])
    try tree.createFile("index/a0.jsonl", [2])
    try tree.createFile("\(folder)/0", try IndexLine.encode(edited) + [10])
    try tree.createFile("\(folder)/commit.json", try example("commit.json") + [10])
    let count = try tree.read(".keytree/lock", limit: 100).map { String(decoding: $0, as: UTF8.self) }
    #expect(try store.open().find(Query()).items == [edited])
    #expect(try tree.status("items/notes.txt") == nil && tree.status("index/a0.jsonl") == nil)
    let kept = ".keytree/quarantine-20260302T174512250000Z/items/notes.txt"
    #expect(try tree.read(kept, limit: 10) == [1])
    #expect(try tree.status(folder) == nil)
    let after = try tree.read(".keytree/lock", limit: 100).map { String(decoding: $0, as: UTF8.self) }
    #expect(try #require(count?.prefix(20)) < #require(after?.prefix(20)))
    let lock = try #require(after)
    #expect(lock.wholeMatch(of: /[0-9]{20} [0-9]{10}\n/) != nil)
  }

  // MARK: Other versions

  @Test func `a policy of another format lists attributes and does nothing else`() throws {
    let store = try storeWithAnItem()
    try replace(in: "policy.json", of: store, "\"format\":1", "\"format\":2")
    #expect(throws: KeyringError.policyNotTrusted(.unreadable(.unknownFormat(2)))) { try store.open() }
    #expect(try Index.open(at: store.path, host: store.host).find(Query()).items.count == 1)
  }

  @Test func `a pin of another format stops reading and writing`() throws {
    let store = try storeWithAnItem()
    let state = try FileTree(at: store.host.stateBase)
    let keyring = try #require(try state.list("").first)
    let pin = try #require(try state.read("\(keyring)/pin.json", limit: 1000))
    let edited = String(decoding: pin, as: UTF8.self).replacing("\"format\":1", with: "\"format\":2")
    try state.replaceFile("\(keyring)/pin.json", with: Array(edited.utf8), temporary: "new")
    #expect(throws: KeyringError.policyNotTrusted(.pinUnreadable)) { try store.open() }
  }

  @Test func `a header of another format releases nothing`() throws {
    let store = try storeWithAnItem()
    let record = try store.open().find(Query()).items[0]
    let header = try ItemHeader(record: record, keyring: store.open().policy.keyring).encode()
    let text = String(decoding: header, as: UTF8.self).replacing("\"format\":1", with: "\"format\":2")
    let message = try store.engine.seal(
      SecretBytes(copying: Array((text + "\nsecret").utf8)), to: [store.owner], signer: store.owner)
    var line = record
    line.sealed = ContentDigest(of: message)
    try store.tree().replaceFile("items/\(record.path.text).gpg", with: message, temporary: "new")
    try store.tree().replaceFile(
      StoreLayout.shardFile(record.path.shard, isLocal: false), with: try IndexLine.encode(line) + [10],
      temporary: "new")
    #expect {
      _ = try store.open().text(of: line)
    } throws: { error in
      if case KeyringError.itemDamaged = error { true } else { false }
    }
  }

  @Test func `a transaction record of another format stops readers and writers`() throws {
    let store = try storeWithAnItem()
    let folder = ".keytree/transaction-0123456789abcdef0123456789abcdef"
    try store.tree().createFile("\(folder)/commit.json", Array("{\"format\":2,\"steps\":[]}\n".utf8))
    #expect(throws: KeyringError.transactionUnknown(folder: folder)) { try store.open().find(Query()) }
    #expect(throws: KeyringError.transactionUnknown(folder: folder)) {
      try store.open().add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    }
  }

  private func storeWithAnItem() throws -> StandInStore {
    let store = StandInStore()
    try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    return store
  }

  private func replace(in file: String, of store: StandInStore, _ old: String, _ new: String) throws {
    let bytes = try #require(try store.tree().read(file, limit: 1 << 20))
    let edited = String(decoding: bytes, as: UTF8.self).replacing(old, with: new)
    try store.tree().replaceFile(file, with: Array(edited.utf8), temporary: "new")
  }
}
