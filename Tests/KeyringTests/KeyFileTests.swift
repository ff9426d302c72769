import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@testable import Keyring

/// Tests key files against those that this machine has accepted and those that the policy names.
@Suite(.serialized) struct KeyFileTests {
  private let store = StandInStore()
  private var file: String { StoreLayout.keyFile(store.owner) }

  private func put(_ bytes: [UInt8]) throws {
    try store.tree().replaceFile(file, with: bytes, temporary: "tmp")
  }

  private var changed: KeyringError {
    .policyNotTrusted(.keyChanged(store.owner, name: "Alice <alice@example.org>"))
  }

  private func contents() throws -> [String: [UInt8]] {
    let tree = try store.tree()
    var contents: [String: [UInt8]] = [:]
    for folder in ["index", "keys", ".keytree", "items/internet-password"] {
      for name in try tree.list(folder) where folder != ".keytree" || name != "lock" {
        let path = "\(folder)/\(name)"
        contents[path] = try tree.status(path)?.kind == .regular ? tree.read(path, limit: 1 << 20) : []
      }
    }
    return contents
  }

  @Test func `an older key file that was restored stops every write, and reading continues without it`()
    throws
  {
    let record = try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    try put([0])
    let before = try contents()
    let attempts: [() throws -> Void] = [
      { try store.open().add(.login("b.example", "me"), secret: SecretBytes(text: "s")) },
      { try store.open().update(record, secret: SecretBytes(text: "t")) },
      { try store.open().delete([record]) },
      { _ = try store.open().addAll([.login("c.example", "me")], secret: { _ in SecretBytes(text: "s") }) },
      { _ = try store.open().repair() },
    ]
    for attempt in attempts { #expect(throws: changed) { try attempt() } }
    #expect(try contents() == before)
    let keyring = try store.open()
    #expect(keyring.trusted.keys[store.owner] == [1], "the engine has the accepted key")
    #expect(try keyring.text(of: record) == "s")
    #expect(
      try keyring.check().findings == [
        Finding(file, .policy(.keyChanged(store.owner, name: "Alice <alice@example.org>")))
      ])
  }

  @Test func `a key file that changes while a keyring is open stops its next write`() throws {
    let keyring = try store.createWithoutKeyDigests()
    try put([0])
    #expect(throws: changed) { try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s")) }
    // This also holds after the file was accepted, because the engine still has the old key.
    try trust().accept()
    #expect(throws: changed) { try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s")) }
    #expect(try keyring.find(Query()).items.isEmpty)
  }

  @Test func `trust shows whose key file has changed and accepts it`() throws {
    try store.createWithoutKeyDigests()
    #expect(try trust().standing == .accepted)
    try put([0])
    let trust = try trust()
    #expect(trust.standing == .keysChanged && trust.changedKeys == [store.owner])
    try trust.accept()
    #expect(try self.trust().standing == .accepted)
    let keyring = try store.open()
    #expect(keyring.distrust == nil && keyring.trusted.keys[store.owner] == [0])
    try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let state = try FileTree(at: store.host.stateBase)
    let copies = try state.list(keyring.policy.keyring.hex).filter { $0.hasPrefix("key-") }
    #expect(copies.count == 1, "the copy of the old key is removed")
  }

  @Test func `a key file that the policy does not name cannot be accepted`() throws {
    try store.create()
    try put([0])
    let trust = try trust()
    let obstacle = PolicyDistrust.keyExchanged(store.owner, name: "Alice <alice@example.org>")
    #expect(trust.standing == .keysChanged && trust.obstacle == obstacle)
    #expect(throws: KeyringError.policyNotTrusted(obstacle)) { try trust.accept() }
  }

  @Test func `nothing is read with another key if the accepted copy is lost, too`() throws {
    let keyring = try store.create()
    let state = try FileTree(at: store.host.stateBase)
    let folder = keyring.policy.keyring.hex
    for name in try state.list(folder) where name.hasPrefix("key-") { try state.remove("\(folder)/\(name)") }
    #expect(try store.open().distrust == nil, "the copy is not needed as long as the store has the key")
    try put([0])
    #expect(throws: changed) { try store.open() }
  }

  @Test func `a pin without key files is read, and has them after the next write`() throws {
    let keyring = try store.create()
    let state = try FileTree(at: store.host.stateBase)
    let pin = "\(keyring.policy.keyring.hex)/pin.json"
    let text = String(decoding: try #require(try state.read(pin, limit: 1 << 20)), as: UTF8.self)
    let old = text.replacing(/,"keys":\{[^}]*\}/, with: "")
    #expect(old != text)
    try state.replaceFile(pin, with: Array(old.utf8), temporary: "tmp")
    let record = try store.open().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    #expect(try state.read(pin, limit: 1 << 20) == Array(text.utf8))
    try put([0])
    #expect(throws: changed) { try store.open().delete([record]) }
  }

  private func trust() throws -> Trust {
    try Trust(at: store.path, host: store.host, engine: store.engine, own: [store.owner])
  }
}
