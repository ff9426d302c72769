import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests that the documents agree with the code: the worked example, tables, code and names of tests.
///
/// With `UPDATE_DOCUMENTS=1` in the environment, the worked example is rewritten from `fixtures/stores/example`. Review
/// the difference before you commit it.
@Suite(.serialized) struct DocumentationTests {
  private let format: MarkdownDocument

  init() throws { format = try MarkdownDocument(MarkdownDocument.format) }

  private func example(_ name: String) throws -> [UInt8] {
    Array(try #require(format.example(name), "\(name)").utf8)
  }

  // MARK: The worked example

  @Test func `the worked example shows the fixture, byte for byte`() throws {
    let blocks = try ExampleStore.blocks()
    if ProcessInfo.processInfo.environment["UPDATE_DOCUMENTS"] != nil {
      var document = format
      for (name, text) in blocks { try document.setExample(name, text) }
      try document.write()
    }
    let page = try MarkdownDocument(MarkdownDocument.format)
    for (name, text) in blocks { #expect(page.example(name) == text, "\(name)") }
  }

  @Test func `the code writes the files of the worked example`() throws {
    let file = try RecordFile(parsing: try ExampleStore.bytes(ExampleStore.recordFile))
    #expect(StoreLayout.recordFile(file.record.path, isLocal: false) == ExampleStore.recordFile)
    #expect(StoreLayout.shardFile(file.record.path.shard, isLocal: false) == ExampleStore.shardFile)
    #expect(try IndexLine.encode(file.record) == file.line)
    let shardBytes = try ExampleStore.bytes(ExampleStore.shardFile)
    #expect(shardBytes == file.line + [10])
    let shard = Shard(parsing: shardBytes, number: file.record.path.shard)
    #expect(shard.problems.isEmpty && shard.isWritable)
    #expect(ContentDigest(of: try ExampleStore.bytes(ExampleStore.encryptedFile)) == file.record.sealed)
    let policy = try ExampleStore.bytes("policy.json")
    #expect(try Policy.parse(policy).encode() == policy)
  }

  @Test func `the item of the worked example decrypts to the secret on the page`() throws {
    let gnupg = try GnuPGHome(secret: [.alice])
    let message = try ExampleStore.bytes(ExampleStore.encryptedFile)
    #expect(try gnupg.run(["--decrypt"], input: message) == (try example("secret")))
  }

  @Test func `the record of the worked example is one of two leaves, proven and signed`() throws {
    let file = try RecordFile(parsing: try ExampleStore.bytes(ExampleStore.recordFile))
    let content = try #require(SignedMessage(file.proof.signature)).content
    let statement = try file.statement(in: content)
    #expect(statement.root == file.proof.root && statement.leaves == 2 && file.proof.path.count == 1)
    let gnupg = try GnuPGHome(public: [.alice])
    let status = try gnupg.run(
      ["--status-fd", "1", "--output", "/dev/null", "--decrypt"], input: file.proof.signature)
    #expect(String(decoding: status, as: UTF8.self).contains("VALIDSIG \(GnuPGKey.alice.fingerprint.text)"))
  }

  @Test func `the commands on the page check a proof by hand`() throws {
    let blocks = format.blocks("sh").map { $0.joined(separator: "\n") }
    for commands in [GnuPGKeyringTests.proofByHand, GnuPGKeyringTests.pathByHand] {
      #expect(blocks.contains(commands), "\(commands)")
    }
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

  @Test func `every path on the page is the path of its primary key`() throws {
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
    // A line needs more members than a primary key, and accepts values of every type.
    let rest = """
      ,"created":"2026-01-15T09:30:00Z","id":"9c1d4e7ab35f40268d2e6b81f7c0a953",\
      "modified":"2026-01-15T09:30:00Z","revision":"52e8b0d76f194ac3a7d4183c9be06f25",\
      "sealed":"3jWdaXiQhJuc454WwDI-wNk0VN0oyYKOnbemeEBVn94","secretModified":"2026-01-15T09:30:00Z"}
      """
    return try IndexLine.parse(json.dropLast() + Array(rest.utf8)).primaryKey
  }

  // MARK: Files that a writer creates

  @Test func `a new store has the git files on the page`() throws {
    let store = StandInStore()
    try store.create()
    for name in [".gitattributes", ".gitignore"] {
      #expect(try store.tree().read(name, limit: 1000) == example(name) + [10])
    }
  }

  @Test func `the transaction record on the page has the effect that the page describes`() throws {
    let store = StandInStore()
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    var edited = record
    edited.attributes[.label] = "staged"
    let folder = ".keytree/transaction-0123456789abcdef0123456789abcdef"
    try tree.createFile("items/notes.txt", [1])
    try tree.createFile("index/a0.jsonl", [2])
    try tree.createFile("\(folder)/0", try IndexLine.encode(edited) + [10])
    // The index on the page is different.
    let shard = try #require(try tree.read("index/33.jsonl", limit: 1000))
    let page = String(decoding: try example("commit.json"), as: UTF8.self).replacing(
      ContentDigest(of: Array("the index as it was\n".utf8)).base64url,
      with: ContentDigest(of: shard).base64url)
    try tree.createFile("\(folder)/commit.json", Array(page.utf8) + [10])
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

  @Test func `with a policy of another format, attributes can be listed and nothing else works`() throws {
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
