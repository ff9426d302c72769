import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Creates the stores of `fixtures/stores` in the folder that `KEYTREE_MAKE_STORES` names. This is needed only if
/// format 1 itself changes. The README there has the commands.
@Suite(.serialized) struct GoldenStoreMaker {
  private static let target = ProcessInfo.processInfo.environment["KEYTREE_MAKE_STORES"]

  /// A store whose files are changed directly.
  private struct Workshop {
    let store: GnuPGStore
    let gnupg: GnuPGHome
    let keyring: Keyring

    init(_ owner: GnuPGKey = .alice) throws {
      gnupg = try GnuPGHome(secret: [.alice, .bob], public: [.carol])
      store = GnuPGStore(gnupg)
      keyring = try store.create(owner: owner)
    }

    func bytes(_ path: String) throws -> [UInt8] {
      Array(try Data(contentsOf: URL(fileURLWithPath: "\(store.path)/\(path)")))
    }

    func write(_ bytes: [UInt8], _ path: String) throws {
      let url = URL(fileURLWithPath: "\(store.path)/\(path)")
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: url)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: "\(store.path)/\(path)") }

    /// Returns a record with one signature, made by gpg with any key.
    func signed(_ record: ItemRecord, by signer: GnuPGKey = .alice, _ keyring: KeyringID? = nil) throws
      -> RecordFile
    {
      try gnupg.sign(record, by: signer, for: keyring ?? self.keyring.policy.keyring, at: store.host.clock())
    }

    /// Replaces the encrypted file of an item, and writes a record and a line that describe it.
    func exchange(_ record: ItemRecord, _ message: [UInt8], by signer: GnuPGKey = .alice) throws {
      let described = record.sealed(as: ContentDigest(of: message))
      try write(message, "items/\(record.path.text).gpg")
      let file = try signed(described, by: signer)
      try write(file.bytes, "items/\(record.path.text).json")
      try write(file.line + [10], StoreLayout.shardFile(record.path.shard, isLocal: false))
    }

    /// Copies the store without the files that stay on a machine.
    func keep(_ name: String, in folder: String) throws {
      let copy = "\(folder)/\(name)"
      try? FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: store.path, toPath: copy)
      for name in ["lock", "commit", "commits"] {
        try? FileManager.default.removeItem(atPath: "\(copy)/.keytree/\(name)")
      }
      let work = (try? FileManager.default.contentsOfDirectory(atPath: "\(copy)/.keytree")) ?? []
      if !work.contains(where: { $0.hasPrefix("transaction") }) {
        try? FileManager.default.removeItem(atPath: "\(copy)/.keytree")
      }
    }
  }

  // MARK: Format 1

  private static let items: [(NewItem, [UInt8])] = [
    (
      .login(
        "github.com", "alice",
        [.label: "GitHub", .comment: "work account", "url": "https://github.com/login"]),
      Array("correct horse".utf8)
    ),
    (.login("github.com", "alice", [.field: "otp"]), Array("JBSWY3DPEHPK3PXP".utf8)),
    (
      .login("db.example.org", "app", [.port: 5432, .protocol: "postgres", .path: "/billing"]),
      [0x70, 0, 0x71, 0xff, 10, 10]
    ),
    (.login("m\u{fc}nchen.example", "j\u{fc}rgen", [.label: "\u{1f511} key"]), Array("schl\u{fc}ssel".utf8)),
    (
      .login(
        "evil.example", "x",
        [.label: "a\u{1b}]0;title\u{7}b\nc", .comment: .bytes(Array("not utf-8: ".utf8) + [0xff, 0xfe])]),
      Array("escape".utf8)
    ),
    (.login("a/b", "../../etc/passwd"), Array("slashes".utf8)),
    (.login("CON", "Alice"), Array("case".utf8)),
    (
      NewItem(itemClass: .genericPassword, attributes: [.service: "mailer", .account: "bot"]),
      Array("token-0815\n".utf8)
    ),
    (
      NewItem(
        itemClass: .genericPassword, attributes: [.service: "notes", .account: "wifi", .field: "note"]),
      Array("note text\nof two lines\n".utf8)
    ),
    (
      NewItem(itemClass: .certificate, attributes: [.issuer: "ca.example", .serialNumber: "4711"]),
      Array("PEM".utf8)
    ),
    (
      NewItem(itemClass: .key, attributes: [.applicationTag: "signing", .keyClass: "private"]),
      Array("KEY".utf8)
    ),
  ]

  private func makeFormat1(in folder: String) throws {
    let shop = try Workshop()
    let keyring = shop.keyring
    for (item, secret) in Self.items { try keyring.add(item, secret: SecretBytes(copying: secret)) }
    var local = NewItem.login("router.local", "admin")
    local.isLocal = true
    try keyring.add(local, secret: SecretBytes(text: "local only"))
    let old = try keyring.add(.login("changed.example", "me"), secret: SecretBytes(text: "old"))
    let files = try [".gpg", ".json"].map { try shop.bytes("items/\(old.path.text)\($0)") }
    try keyring.update(old, .set(.label, "later"), secret: SecretBytes(text: "new"))
    let digest = ContentDigest(of: try RecordFile(parsing: files[1]).line)
    for (bytes, ending) in zip(files, [".gpg", ".json"]) {
      try shop.write(bytes, StoreLayout.conflictFile(old.id, digest, ending))
    }
    #expect(try keyring.check(decrypts: true).findings == [])
    #expect(try keyring.conflictCopies().count == 1)
    var query = Query()
    query.includesFields = true
    var secrets = ""
    for record in try keyring.find(query).items {
      let secret = try keyring.secret(for: record)
      let hexadecimal = unsafe secret.withBytes { unsafe Hexadecimal.text(Array($0)) }
      secrets += "\(record.reference.text) \(hexadecimal)\n"
    }
    try Data(secrets.utf8).write(to: URL(fileURLWithPath: "\(folder)/v1.secrets"))
    try shop.keep("v1", in: folder)
  }

  // MARK: The example of the format document

  private func makeExample(in folder: String) throws {
    let shop = try Workshop()
    let id = try #require(KeyringID(hex: "3f0a6c1be2d94785b1c05a7e9d28f64c"))
    let made = try #require(Timestamp(rfc3339: "2026-01-15T09:30:00Z"))
    let changed = try #require(Timestamp(rfc3339: "2026-03-02T17:45:12.25Z"))
    var policy = shop.keyring.policy
    policy = Policy(
      keyring: id, generation: 1, previous: nil,
      people: policy.people.mapValues { person in
        var person = person
        person.added = Timestamp(microseconds: made.microseconds - 30_000_000)
        return person
      }, groups: policy.groups)
    try PolicyForge(shop.gnupg, store: shop.store.path).write(policy.encode(), signedBy: .alice)
    let message = try shop.gnupg.encrypt(
      Array("open sesame".utf8), to: [.alice], options: ["--compress-algo", "none"])
    let record = ItemRecord(
      itemClass: .internetPassword, id: try #require(ItemID(hex: "9c1d4e7ab35f40268d2e6b81f7c0a953")),
      revision: try #require(Revision(hex: "52e8b0d76f194ac3a7d4183c9be06f25")), created: made,
      modified: changed,
      secretModified: made, group: "default", sealed: ContentDigest(of: message),
      attributes: [
        .server: "github.com", .account: "alice", .label: "GitHub", "url": "https://github.com/login",
      ])
    let line = try IndexLine.encode(record)
    // Signed together with another record, so that the path is not empty.
    let leaf = MerkleTree.leaf(of: line)
    let tree = MerkleTree(leaves: [leaf, MerkleTree.leaf(of: Array("another record".utf8))])
    let statement = SignedRoot(keyring: id, root: tree.root, leaves: 2, time: changed)
    let signature = try shop.gnupg.run(
      ["--compress-algo", "none", "--local-user", GnuPGKey.alice.fingerprint.text, "--sign"],
      input: statement.encode())
    let proof = RecordProof(leaf: 0, path: tree.path(of: 0), root: tree.root, signature: signature)
    try shop.write(message, "items/\(record.path.text).gpg")
    try shop.write(
      RecordFile(line: line, record: record, proof: proof).bytes, "items/\(record.path.text).json")
    try shop.write(line + [10], StoreLayout.shardFile(record.path.shard, isLocal: false))
    try shop.keep("example", in: folder)
  }

  /// Creates a store whose policy names people whose keys cannot be used.
  private func makePeople(in folder: String) throws {
    let shop = try Workshop()
    let forge = PolicyForge(shop.gnupg, store: shop.store.path)
    let others: [GnuPGKey] = [.revoked, .expired, .bob, .signonly]
    var edits =
      others.map { key in
        let name = "\(key.rawValue.capitalized) Example <\(key.mail)>"
        return PolicyEdit.add(
          key.fingerprint, name: name, role: .member, key: ContentDigest(of: key.publicKey),
          encryptTo: [key.encryptionSubkey])
      } + [PolicyEdit.create(group: "everybody")]
    edits += ([.alice] + others).map { .join($0.fingerprint, group: "everybody") }
    try forge.succeed(edits, by: .alice)
    try shop.keep("people", in: folder)
  }

  // MARK: Damage

  private static let base: [(NewItem, String)] = [
    (.login("a.example", "me"), "first"), (.login("b.example", "me"), "second"),
    (.login("c.example", "me"), "third"),
    (.login("c.example", "me", [.field: "otp"]), "JBSWY3DPEHPK3PXP"),
    (NewItem(itemClass: .genericPassword, attributes: [.service: "d", .account: "me"]), "fourth"),
  ]

  // Each copy of the store has one fault, so that one accepted policy works for all copies.
  private func makeDamaged(in folder: String) throws {
    let shop = try Workshop()
    let keyring = shop.keyring
    var records: [ItemRecord] = []
    for (item, secret) in Self.base {
      records.append(try keyring.add(item, secret: SecretBytes(text: secret)))
    }
    let (a, b) = (records[0], records[1])
    let (fileA, fileB) = ("items/\(a.path.text).gpg", "items/\(b.path.text).gpg")
    let (recordA, recordB) = ("items/\(a.path.text).json", "items/\(b.path.text).json")
    let shardA = StoreLayout.shardFile(a.path.shard, isLocal: false)
    let shardB = StoreLayout.shardFile(b.path.shard, isLocal: false)
    try shop.keep("base", in: folder)
    func damaged(_ name: String, _ body: () throws -> Void) throws {
      try body()
      try shop.keep("damaged-\(name)", in: folder)
      // Restore everything for the next one.
      for file in try FileManager.default.contentsOfDirectory(atPath: shop.store.path)
      where file != ".keytree" {
        try shop.remove(file)
      }
      try? shop.remove(".keytree/transaction-0123456789abcdef")
      for file in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/base") {
        try FileManager.default.copyItem(
          atPath: "\(folder)/base/\(file)", toPath: "\(shop.store.path)/\(file)")
      }
    }
    let (messageA, messageB) = (try shop.bytes(fileA), try shop.bytes(fileB))
    let (bytesA, bytesB) = (try shop.bytes(recordA), try shop.bytes(recordB))
    let (lineA, lineB) = (try shop.bytes(shardA), try shop.bytes(shardB))
    let proofA = try RecordFile(parsing: bytesA).proof

    try damaged("change") {
      try shop.write(Array("{\"format\":1,".utf8), ".keytree/transaction-0123456789abcdef/commit.json")
    }
    try damaged("double") { try shop.write(lineB + lineB, shardB) }
    try damaged("flipped") {
      var bytes = messageA
      bytes[bytes.count - 20] ^= 1
      try shop.write(bytes, fileA)
    }
    try damaged("form") {
      try shop.write([0x7b, 0x20] + lineA.dropFirst(), shardA)
      try shop.write(Array(lineB.dropLast()), shardB)
    }
    try damaged("key") {
      try shop.write(GnuPGKey.bob.publicKey, StoreLayout.keyFile(GnuPGKey.alice.fingerprint))
    }
    try damaged("line") { try shop.write(Array(lineA.prefix(lineA.count / 2)) + [10], shardA) }
    try damaged("moved") {
      for (file, bytes) in [(fileA, messageA), (recordA, bytesA)] {
        try shop.remove(file)
        try shop.write(bytes, "items/internet-password/z.example/other\(file.suffix(file == fileA ? 4 : 5))")
      }
    }
    try damaged("no-file") { try shop.remove(fileA) }
    try damaged("no-line") { try shop.remove(shardA) }
    try damaged("no-signature") { try shop.remove("policy.json.asc") }
    try damaged("passphrase") {
      let options = ["--pinentry-mode", "loopback", "--passphrase", "x", "--symmetric"]
      try shop.exchange(a, try shop.gnupg.run(options, input: Array("first".utf8)))
    }
    try damaged("plain") {
      try shop.exchange(a, Array("no secret at all".utf8))
      try shop.exchange(
        b, try shop.gnupg.run(["--compress-algo", "none", "--store"], input: Array("second".utf8)))
    }
    try damaged("policy") {
      let text = String(decoding: try shop.bytes("policy.json"), as: UTF8.self)
      try shop.write(Array(text.replacing("Alice", with: "Mallory").utf8), "policy.json")
    }
    try damaged("reader") {
      try shop.exchange(a, try shop.gnupg.encrypt(Array("first".utf8), to: [.alice, .bob]))
    }
    try damaged("shard-place") {
      try shop.remove(shardA)
      try shop.write(lineA, "index/00.jsonl")
    }
    try damaged("stranger") {
      let other = try #require(KeyringID(hex: "00112233445566778899aabbccddeeff"))
      try shop.write(try shop.signed(a, other).bytes, recordA)
    }
    try damaged("strays") {
      for path in ["index/zz.jsonl", "items/internet-password/notes.txt", "items/stray", "conflicts/x"] {
        try shop.write(Array("x\n".utf8), path)
      }
      try shop.write(Array("x\n".utf8), "items/internet-password/c.example/me/UPPER.gpg")
      let folder = "items/internet-password/c.example/folder.gpg"
      try shop.write([], "\(folder)/kept")
      try FileManager.default.createSymbolicLink(
        atPath: "\(shop.store.path)/items/internet-password/b.example/link.gpg",
        withDestinationPath: "../a.example/me.gpg")
    }
    try damaged("swapped") {
      for (path, bytes) in [(fileA, messageB), (fileB, messageA), (recordA, bytesB), (recordB, bytesA)] {
        try shop.write(bytes, path)
      }
    }
    try damaged("swapped-files") {
      try shop.write(messageB, fileA)
      try shop.write(messageA, fileB)
    }
    try damaged("truncated") {
      try shop.write(Array(messageA.prefix(messageA.count / 2)), fileA)
      try shop.write([], fileB)
    }
    try damaged("unsigned") {
      let proof = RecordProof(leaf: proofA.leaf, path: proofA.path, root: proofA.root, signature: [])
      try shop.write(RecordFile(line: Array(lineA.dropLast()), record: a, proof: proof).bytes, recordA)
    }
    // Damage of records.
    try damaged("record-cut") { try shop.write(Array(bytesA.prefix(bytesA.count / 2)), recordA) }
    try damaged("record-missing") { try shop.remove(recordA) }
    try damaged("record-other") { try shop.write(bytesB, recordA) }
    try damaged("record-by-stranger") { try shop.write(try shop.signed(a, by: .bob).bytes, recordA) }
    try damaged("record-edited") {
      var edited = a
      edited.attributes[.label] = "edited"
      let line = try IndexLine.encode(edited)
      try shop.write(RecordFile(line: line, record: edited, proof: proofA).bytes, recordA)
      try shop.write(line + [10], shardA)
    }
    try damaged("line-edited") {
      var edited = a
      edited.attributes[.label] = "edited"
      try shop.write(try IndexLine.encode(edited) + [10], shardA)
    }
    try damaged("not-adopted") {
      try shop.write(
        try shop.gnupg.encrypt(Array("by pass\n".utf8), to: [.alice]),
        "items/internet-password/e.example/me.gpg")
    }
    try damaged("pass-recipients") {
      try shop.write(Array("\(GnuPGKey.bob.fingerprint.text)\n".utf8), StoreLayout.passRecipients)
    }
    try damaged("not-a-reader") {
      try shop.exchange(a, try shop.gnupg.encrypt(Array("first".utf8), to: [.bob]))
    }
    try damaged("recipient-added") {
      let message = try shop.gnupg.encrypt(Array("first".utf8), to: [.alice])
      // The packet in front of a message for Bob. GnuPG writes one byte of length for such a key.
      let other = try shop.gnupg.encrypt([1], to: [.bob])
      try shop.exchange(a, other.prefix(2 + Int(other[1])) + message)
    }
    try damaged("conflict") {
      let digest = ContentDigest(of: Array(lineA.dropLast()))
      try shop.write(bytesA, StoreLayout.conflictFile(a.id, digest, ".json"))
    }
    try FileManager.default.removeItem(atPath: "\(folder)/base")
  }

  @Test(.enabled(if: target != nil)) func `the golden stores are created`() throws {
    let folder = try #require(Self.target)
    try makeFormat1(in: folder)
    try makeExample(in: folder)
    try makePeople(in: folder)
    try makeDamaged(in: folder)
  }
}
