import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// The store with real GnuPG: what a stand-in cannot show.
@Suite struct GnuPGKeyringTests {
  @Test func `items are sealed, read, changed, renamed and rebuilt with real GnuPG`() throws {
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

  @Test func `reading an item takes two processes, finding it none`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let keyring = try store.open()
    #expect(try keyring.find(Query()).items.count == 1)
    #expect(keyring.engineStatistics == EngineStatistics())
    #expect(try keyring.text(of: record) == "one")
    // `gpg --version` runs once in a process, and other tests are in this one.
    let statistics = keyring.engineStatistics
    #expect((1...2).contains(statistics.processes))
    #expect(statistics.decryptions == 1 && statistics.encryptions == 0)
  }

  @Test func `an item can be read with plain gpg`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(
      .login("github.com", "alice"), secret: SecretBytes(text: "one\ntwo\n"))
    let file = "\(store.path)/\(StoreLayout.itemFile(record.path, isLocal: false))"
    let plain = String(decoding: try store.gnupg.run(["--decrypt", file]), as: UTF8.self)
    let lines = plain.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    #expect(lines.last == "one\ntwo\n")
    #expect(lines.first?.hasPrefix(#"{"account":"alice","class":"internet-password","created":"#) == true)
  }

  @Test("an item that anybody else has sealed to the owner is refused", arguments: [nil, GnuPGKey.bob])
  func strangers(_ signer: GnuPGKey?) throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice, .bob]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    let file = StoreLayout.itemFile(record.path, isLocal: false)
    let header = try store.gnupg.run(["--decrypt", "\(store.path)/\(file)"]).prefix { $0 != 10 }
    let options = signer.map { ["--sign", "--local-user", $0.fingerprint.text] } ?? []
    let forged = try store.gnupg.encrypt(Array(header) + Array("\nevil".utf8), to: [.alice], options: options)
    try store.tree().replaceFile(file, with: forged, temporary: "tmp")
    #expect {
      _ = try store.open().text(of: record)
    } throws: { error in
      guard case KeyringError.itemDamaged(_, let damage) = error else { return false }
      return damage == (signer == nil ? .unsigned : .badSignature)
    }
  }

  @Test(
    "a key that cannot be used makes no store",
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

  @Test func `a pin that is lost is made again by trust, with the same people`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "one"))
    ScratchFolder.remove(store.host.stateBase)
    #expect(throws: KeyringError.self) { try store.open() }
    let trust = try Trust(at: store.path, host: store.host)
    #expect(trust.accepted == nil && trust.signer == GnuPGKey.alice.fingerprint)
    try trust.accept()
    #expect(try store.open().text(of: record) == "one")
  }

  @Test func `a policy that somebody else has signed cannot be accepted`() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice, .bob]))
    let keyring = try store.create()
    let tree = try store.tree()
    var policy = keyring.policy
    policy.generation = 2
    policy.previous = ContentDigest(of: keyring.policy.encode())
    policy.people[GnuPGKey.bob.fingerprint] = Person(name: "Bob", role: .admin, added: store.host.clock())
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
