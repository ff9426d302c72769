import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the store with real GnuPG, for behaviour that a stand-in cannot show.
@Suite(.serialized) struct GnuPGKeyringTests {
  @Test func `items are encrypted, read, changed, renamed and rebuilt with real GnuPG`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "one\n"))
    #expect(try store.open().text(of: record) == "one\n")
    let updated = try store.open().update(record, secret: SecretBytes(text: "two"))
    #expect(updated.revision != record.revision && updated.id == record.id)
    var set = Attributes()
    set[.server] = .string("gitlab.com")
    let renamed = try store.open().update(updated, AttributeChanges(set: set))
    #expect(try store.open().text(of: renamed) == "two")
    ScratchFolder.remove("\(store.path)/index")
    #expect(try store.open().repair().findings.isEmpty)
    #expect(try store.open().find(Query()).items == [renamed])
    #expect(try store.open().check(decrypts: true).isClean)
  }

  @Test func `reading an item that was written on this machine takes one process, and finding it takes none`()
    throws
  {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let keyring = try store.open()
    #expect(try keyring.find(Query()).items.count == 1)
    #expect(keyring.engineStatistics == EngineStatistics())
    #expect(try keyring.text(of: record) == "one")
    // `gpg --version` runs once in a process, and this process also runs other tests.
    let statistics = keyring.engineStatistics
    #expect((1...2).contains(statistics.processes))
    #expect(statistics.decryptions == 1 && statistics.encryptions == 0 && statistics.signatures == 0)
    // On another machine the signature has to be verified once.
    ScratchFolder.remove("\(store.host.stateBase)/\(keyring.policy.keyring.hex)/roots")
    let other = try store.open()
    #expect(try other.text(of: record) == "one" && other.text(of: record) == "one")
    #expect(other.engineStatistics.processes == 3 && other.engineStatistics.decryptions == 2)
  }

  @Test(arguments: [[], Array("one\ntwo\n".utf8), [0, 255, 10], Array("no line feed".utf8)] as [[UInt8]])
  func `gpg prints the exact bytes of a secret`(bytes: [UInt8]) throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(copying: bytes))
    let file = "\(store.path)/\(StoreLayout.itemFile(record.path, isLocal: false))"
    #expect(try store.gnupg.run(["--decrypt", file]) == bytes)
  }

  @Test func `a file that someone else has encrypted to the owner is refused`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let forged = try store.gnupg.encrypt(Array("evil".utf8), to: [.alice])
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    try store.tree().replaceFile(file, with: forged, temporary: "tmp")
    #expect(throws: KeyringError.itemDamaged(record.reference, .notAsRecorded)) {
      _ = try store.open().text(of: record)
    }
  }

  @Test func `a record that someone else has signed is refused`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice, .bob]))
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let forged = try store.gnupg.encrypt(Array("evil".utf8), to: [.alice])
    var evil = record
    evil.sealed = ContentDigest(of: forged)
    let line = try IndexLine.encode(evil)
    let tree = MerkleTree(leaves: [MerkleTree.leaf(of: line)])
    let statement = SignedRoot(
      keyring: keyring.policy.keyring, root: tree.root, leaves: 1, time: store.host.clock())
    let signature = try store.gnupg.run(
      ["--compress-algo", "none", "--local-user", GnuPGKey.bob.fingerprint.text, "--sign"],
      input: statement.encode())
    #expect(SignedMessage(signature)?.content == statement.encode())
    let proof = RecordProof(leaf: 0, path: [], root: tree.root, signature: signature)
    let files = [
      (
        StoreLayout.recordFile(record.path, isLocal: false),
        RecordFile(line: line, record: evil, proof: proof).bytes
      ),
      (StoreLayout.itemFile(record.path, isLocal: false), forged),
      (StoreLayout.shardFile(record.path.shard, isLocal: false), line + [10]),
    ]
    for (file, bytes) in files { try store.tree().replaceFile(file, with: bytes, temporary: "tmp") }
    #expect(throws: KeyringError.itemDamaged(record.reference, .badSignature)) {
      _ = try store.open().text(of: evil)
    }
    #expect(try store.open().check().findings.map(\.kind) == [.damaged(.badSignature)])
  }

  /// The commands in the format document, run in the folder of a store: they print the leaf of a record and the
  /// statement that was signed. In a tree of one record the leaf is the root.
  static let proofByHand = #"""
    record=items/internet-password/github.com/alice.json
    { printf '\0'; head -n 1 $record | tr -d '\n'; } | sha256sum | head -c 64 | tr a-f A-F | basenc --base16 --decode | basenc --base64url
    tail -n 1 $record | sed 's/.*"signature":"\([^"]*\)".*/\1/' | base64 --decode | gpg --decrypt
    """#

  /// The commands that follow the path from the leaf of `$record` to the root.
  static let pathByHand = #"""
    digest() { sha256sum | head -c 64 | tr a-f A-F; }
    bytes() { printf %s "$@" | basenc --base16 --decode; }
    hex() { printf '%s=' "$1" | basenc --base64url --decode | basenc --base16 --wrap 0; }
    member() { sed -E "s/.*\"$1\":(\[[^]]*\]|\"[^\"]*\"|[0-9]+).*/\1/" | tr -d '[]"' | tr , ' '; }
    proof=$(tail -n 1 $record)
    statement=$(echo "$proof" | member signature | base64 --decode | gpg --decrypt)
    leaf=$(echo "$proof" | member leaf) last=$(($(echo "$statement" | member leaves) - 1))
    hash=$({ printf '\0'; head -n 1 $record | tr -d '\n'; } | digest)
    for sibling in $(echo "$proof" | member path); do
      sibling=$(hex "$sibling")
      if [ $((leaf % 2)) = 1 ] || [ $leaf = $last ]; then
        hash=$({ printf '\1'; bytes "$sibling" "$hash"; } | digest)
        while [ $((leaf % 2)) = 0 ] && [ $leaf != 0 ]; do leaf=$((leaf / 2)) last=$((last / 2)); done
      else
        hash=$({ printf '\1'; bytes "$hash" "$sibling"; } | digest)
      fi
      leaf=$((leaf / 2)) last=$((last / 2))
    done
    root=$(hex "$(echo "$statement" | member root)")
    if [ $last = 0 ] && [ "$hash" = "$root" ]; then echo "leads to the root"; fi
    """#

  /// Runs commands of the format document in the folder of a store.
  ///
  /// - Returns: The lines that they print, and the lines of gpg's status output.
  private func runByHand(
    _ commands: String, in store: String, _ gnupg: GnuPGHome
  ) throws -> (output: [String], status: [String]) {
    let folder = ScratchFolder()
    let status = "\(folder.path)/status"
    // In the script, `gpg` is a function that uses the test's own home.
    let script = """
      set -e; cd '\(store)'
      gpg() { command gpg --quiet --status-file '\(status)' --homedir '\(gnupg.home)' "$@"; }
      \(commands)
      """
    let lines = { (bytes: [UInt8]) in
      String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    let output = lines(try GnuPGTool.run("bash", ["-c", script]))
    return (output, lines(try GnuPGTool.run("cat", [status])))
  }

  @Test func `a proof can be checked in the shell, and gpg names the signer`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let (output, status) = try runByHand(Self.proofByHand, in: store.path, store.gnupg)
    let leaf = MerkleTree.leaf(of: try IndexLine.encode(record))
    #expect(output.first == "\(leaf.base64url)=")
    let statement = try #require(SignedRoot(parsing: Array((output.last ?? "").utf8)))
    #expect(statement.root == leaf && statement.leaves == 1)
    let signer = GnuPGKey.alice.fingerprint.text
    #expect(status.contains { $0.hasPrefix("[GNUPG:] VALIDSIG \(signer) ") })
  }

  @Test(arguments: 1...7)
  func `a path can be followed in the shell for every leaf of a tree`(count: Int) throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let items = (0..<count).map { NewItem.login("github.com", $0 == 0 ? "alice" : "a\($0)") }
    _ = try store.create().addAll(items, secret: { SecretBytes(text: "\($0)") })
    for item in try store.open().find(Query()).items {
      let file = StoreLayout.recordFile(item.path, isLocal: false)
      let (output, _) = try runByHand("record=\(file)\n\(Self.pathByHand)", in: store.path, store.gnupg)
      #expect(output == ["leads to the root"], "\(file)")
    }
  }

  @Test func `a changed path does not lead to the root in the shell`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let items = [NewItem.login("github.com", "alice"), .login("github.com", "bob")]
    _ = try store.create().addAll(items, secret: { SecretBytes(text: "\($0)") })
    let path = "items/internet-password/github.com/alice.json"
    let bytes = try #require(try store.tree().read(path, limit: 1 << 20))
    let file = try RecordFile(parsing: bytes)
    let changed = RecordProof(
      leaf: file.proof.leaf, path: [ContentDigest(of: [1])], root: file.proof.root,
      signature: file.proof.signature)
    let forged = RecordFile(line: file.line, record: file.record, proof: changed)
    try store.tree().replaceFile(path, with: forged.bytes, temporary: "tmp")
    let commands = "record=\(path)\n\(Self.pathByHand)"
    #expect(try runByHand(commands, in: store.path, store.gnupg).output.isEmpty)
  }

  @Test(
    "no store is created with an unusable key",
    arguments: [GnuPGKey.expired, .revoked, .signonly])
  func unusableOwners(_ key: GnuPGKey) throws {
    let store = GnuPGStore(try GnuPGHome(secret: [key]))
    #expect {
      _ = try store.create(owner: key)
    } throws: { error in
      guard case KeyringError.engine(.unusableKey(key.fingerprint, _), nil) = error else { return false }
      return true
    }
    #expect(throws: KeyringError.self) { try store.open() }
  }

  @Test func `a truncated or altered item releases nothing`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    let tree = try store.tree()
    let good = try #require(try tree.read(file, limit: 1 << 20))
    let keyring = try store.open()
    var damaged = stride(from: 0, to: good.count, by: 41).map { Array(good.prefix($0)) }
    for position in stride(from: 0, to: good.count, by: 37) {
      var altered = good
      altered[position] ^= 0x10
      damaged.append(altered)
    }
    for bytes in damaged {
      try tree.replaceFile(file, with: bytes, temporary: "tmp")
      #expect(throws: KeyringError.self, "\(bytes.count) bytes") { _ = try keyring.text(of: record) }
    }
    try tree.replaceFile(file, with: good, temporary: "tmp")
    #expect(try keyring.text(of: record) == "one")
  }

  @Test func `a lost pin is made again by trust, with the same people`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    ScratchFolder.remove(store.host.stateBase)
    #expect(throws: KeyringError.self) { try store.open() }
    let trust = try Trust(at: store.path, host: store.host)
    #expect(trust.accepted == nil && trust.signer == GnuPGKey.alice.fingerprint)
    try trust.accept()
    #expect(try store.open().text(of: record) == "one")
  }

  @Test func `a policy that someone else has signed cannot be accepted`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice, .bob]))
    let keyring = try store.create()
    let tree = try store.tree()
    var policy = keyring.policy
    policy.generation = 2
    policy.previous = ContentDigest(of: keyring.policy.encode())
    policy.people[GnuPGKey.bob.fingerprint] = Person(
      name: "Bob", role: .admin, added: store.host.clock(), encryptTo: [GnuPGKey.bob.encryptionSubkey])
    try tree.replaceFile("policy.json", with: policy.encode(), temporary: "tmp")
    let bob = GnuPGKey.bob.fingerprint.text
    let signature = try store.gnupg.run(
      ["--armor", "--local-user", bob, "--detach-sign"], input: policy.encode())
    try tree.replaceFile("policy.json.asc", with: signature, temporary: "tmp")
    try tree.createFile("keys/\(bob).asc", try store.gnupg.run(["--armor", "--export", bob]))
    let trust = try Trust(at: store.path, host: store.host)
    #expect(trust.standing == .newer && trust.signedBy == nil && trust.obstacle == .badSignature)
    #expect(throws: KeyringError.policyNotTrusted(.badSignature)) { try trust.accept() }
  }
}
