import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Testing
import TestSupport

@Suite(.serialized) struct KeyringTests {
  @Test(
    "a secret comes back byte for byte, whatever its bytes are",
    arguments: [
      [], [0], [10], [13, 10], Array("pass\n".utf8), Array("\u{feff}é\u{1b}[2J".utf8),
      [0xff, 0xfe, 0x00, 0x0a],
    ] as [[UInt8]])
  func roundTrip(_ bytes: [UInt8]) throws { try expectRoundTrip(bytes) }

  // The output of the tests shows the value of every argument, so the largest secret is not an argument.
  @Test("a secret of the maximum size comes back") func largestSecret() throws {
    try expectRoundTrip([UInt8](repeating: 0x41, count: 1 << 20))
  }

  private func expectRoundTrip(_ bytes: [UInt8]) throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(copying: bytes))
    let secret = try store.open().secret(for: record)
    #expect(unsafe secret.withBytes { unsafe Array($0) } == bytes)
  }

  @Test func `a secret of more than 1 MiB is refused and the store is unchanged`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let large = SecretBytes(copying: [UInt8](repeating: 1, count: 1 << 20 | 1))
    #expect { try keyring.add(.login("github.com", "alice"), secret: large) } throws: { error in
      guard case KeyringError.secretTooLarge(limit: 1 << 20) = error else { return false }
      return true
    }
    #expect(try keyring.find(Query()).items.isEmpty)
  }

  @Test func `the files of the example in the design are at the paths in the design`() throws {
    let store = StandInStore()
    try store.create().add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    #expect(try tree.status("items/internet-password/github.com/alice.gpg")?.mode == 0o600)
    #expect(try tree.status("items/internet-password/github.com/alice.json")?.mode == 0o600)
    #expect(try tree.status("index/33.jsonl")?.kind == .regular)
    #expect(try tree.status("items/internet-password")?.mode == 0o700)
    #expect(try tree.list(".keytree") == ["lock"])
  }

  @Test func `a second item with the same primary key is refused, in the store and among local items`() throws
  {
    let store = StandInStore()
    let keyring = try store.create()
    try keyring.add(.login("github.com", "alice", [.label: .string("one")]), secret: SecretBytes(text: "s"))
    var local = NewItem.login("github.com", "alice")
    local.isLocal = true
    for item in [NewItem.login("github.com", "alice", [.label: .string("two")]), local] {
      #expect { try keyring.add(item, secret: SecretBytes(text: "t")) } throws: { error in
        guard case KeyringError.itemExists(let reference) = error else { return false }
        return reference.text == "keytree://internet-password/github.com/alice"
      }
    }
    #expect(try keyring.text(of: keyring.find(Query()).items[0]) == "s")
  }

  @Test func `local items are found by the same queries and stored separately`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    var item = NewItem.login("github.com", "bob")
    item.isLocal = true
    try keyring.add(item, secret: SecretBytes(text: "mine"))
    try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "ours"))
    let records = try keyring.find(Query(text: "github.com")).items
    #expect(records.map(\.isLocal) == [true, false])
    #expect(try keyring.text(of: records[0]) == "mine")
    #expect(try store.tree().status("local/items/internet-password/github.com/bob.gpg") != nil)
    #expect(try store.tree().status("items/internet-password/github.com/bob.gpg") == nil)
  }

  @Test func `an item moves to this machine and back unchanged, and leaves nothing behind`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let shared = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let here = try keyring.update(shared, AttributeChanges(isLocal: true))
    #expect(
      here.isLocal && (here.id, here.revision, here.sealed) == (shared.id, shared.revision, shared.sealed))
    #expect(try store.tree().list("items/internet-password") == [])
    let shard = StoreLayout.shardName(shared.path.shard)
    #expect(try store.tree().list("index") == [shard] && store.tree().status("index/\(shard)")?.size == 0)
    #expect(try keyring.find(Query()).items == [here])
    #expect(try keyring.text(of: here) == "s")
    let back = try keyring.update(here, AttributeChanges(isLocal: false))
    #expect(!back.isLocal && back.id == shared.id)
    #expect(try store.tree().list("local/items/internet-password") == [])
    #expect(try store.tree().status("local/index/\(shard)")?.size == 0)
    #expect(try keyring.find(Query()).items == [back])
    #expect(try keyring.text(of: back) == "s")
    #expect(store.engine.statistics.encryptions == 1)
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `an item can move to this machine with another secret or key, but not onto another item`() throws
  {
    let store = StandInStore()
    let keyring = try store.create()
    var old = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    old = try keyring.update(old, AttributeChanges(isLocal: true), secret: SecretBytes(text: "t"))
    var set = Attributes()
    set[.account] = .string("bob")
    old = try keyring.update(old, AttributeChanges(set: set, isLocal: false))
    #expect(try keyring.find(Query()).items == [old])
    #expect(try keyring.text(of: old) == "t")
    try keyring.add(.login("github.com", "carol"), secret: SecretBytes(text: "c"))
    set[.account] = .string("carol")
    let taking = AttributeChanges(set: set, isLocal: true)
    #expect { try keyring.update(old, taking) } throws: { error in
      if case KeyringError.itemExists = error { true } else { false }
    }
    #expect(try keyring.text(of: old) == "t")
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `renaming keeps id, revision, creation and secret and leaves nothing behind`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let old = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    var set = Attributes()
    set[.server] = .string("gitlab.com")
    let new = try keyring.update(old, AttributeChanges(set: set))
    #expect((new.id, new.revision, new.created) == (old.id, old.revision, old.created))
    #expect(new.secretModified == old.secretModified && new.modified > old.modified)
    #expect(try keyring.text(of: new) == "s")
    #expect(try store.tree().list("items/internet-password") == ["gitlab.com"])
    #expect(try keyring.find(Query()).items == [new])
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `an attribute outside the primary key is changed without re-encryption`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let old = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    var set = Attributes()
    set[.label] = .string("work")
    let new = try keyring.update(old, AttributeChanges(set: set))
    #expect(new.sealed == old.sealed && new.attributes[.label] == .string("work"))
    #expect(store.engine.statistics.encryptions == 1)
    let again = try keyring.update(new, AttributeChanges(set: set))
    #expect(again == new, "setting the same value again changes nothing")
  }

  @Test func `the secret of all matches is refused before any file is read`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    // Nothing can be read after this.
    ScratchFolder.remove("\(store.path)/index")
    ScratchFolder.remove("\(store.path)/.keytree")
    unsafe chmod(store.path, 0)
    defer { unsafe chmod(store.path, 0o700) }
    var query = Query()
    query.limit = .all
    query.returns = [.attributes, .secret]
    #expect { try keyring.find(query) } throws: { error in
      guard case KeyringError.invalidQuery(.secretOfAllMatches) = error else { return false }
      return true
    }
  }

  @Test func `finding decrypts nothing, and getting decrypts one item`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let items = (0..<50).map { NewItem.login("host\($0).example", "me") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    let found = try keyring.find(Query()).items
    #expect(found.count == 50 && store.engine.statistics.decryptions == 0)
    _ = try keyring.text(of: found[7])
    #expect(store.engine.statistics.decryptions == 1)
  }

  @Test("exactly as many secrets as the limit allows are decrypted", arguments: [1, 3, 20])
  func secrets(_ limit: Int) throws {
    let store = StandInStore()
    let keyring = try store.create()
    let items = (0..<10).map { NewItem.login("host\($0).example", "me") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "secret \($0)") })
    var seen: [String] = []
    let query = Query(limit: limit == 1 ? .one : .count(limit))
    let matches = try keyring.forEachSecret(matching: query) { record, secret in
      seen.append("\(record.path.container) \(secret.text())")
    }
    let wanted = try keyring.find(Query()).items.prefix(limit)
    #expect(matches.items == Array(wanted))
    #expect(try seen == wanted.map { "\($0.path.container) \(try keyring.text(of: $0))" })
    #expect(store.engine.statistics.decryptions == 2 * wanted.count)
  }

  @Test func `the secrets of all matches are refused before any is read`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    // Every read is an error after this.
    ScratchFolder.remove("\(store.path)/index")
    try store.tree().createFile("index", [])
    #expect(throws: KeyringError.invalidQuery(.secretOfAllMatches)) {
      try keyring.forEachSecret(matching: Query()) { _, _ in Issue.record("released") }
    }
    #expect(throws: KeyringError.self) { try keyring.find(Query()) }
    #expect(store.engine.statistics.decryptions == 0)
  }

  @Test func `adding many twice adds nothing the second time`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let items = (0..<30).map { NewItem.login("host\($0 % 20).example", "me") }
    let first = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    #expect(first.filter { if case .added = $0 { true } else { false } }.count == 20)
    let second = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    #expect(second.allSatisfy { if case .exists = $0 { true } else { false } })
    #expect(try keyring.find(Query()).items.count == 20)
  }

  @Test func `threads that add items at once lose nothing`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    try ThreadGroup.run(8) { worker in
      for number in 0..<25 {
        try keyring.add(.login("host\(number).example", "worker\(worker)"), secret: SecretBytes(text: "s"))
      }
    }
    #expect(try keyring.find(Query()).items.count == 200)
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test func `a writer that cannot get the lock gives up and reports the holder's id`() throws {
    let store = StandInStore()
    try store.create().add(.login("first.example", "me"), secret: SecretBytes(text: "s"))
    let descriptor = unsafe open("\(store.path)/.keytree/lock", O_RDWR)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    var host = store.host
    host.lockTimeout = 0.05
    let keyring = try Keyring.open(at: store.path, host: host, faults: nil, engine: store.engine)
    #expect { try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s")) } throws: { error in
      guard case KeyringError.busy(holder: getpid()) = error else { return false }
      return true
    }
    #expect(try keyring.find(Query()).items.count == 1, "readers do not wait")
  }
}
