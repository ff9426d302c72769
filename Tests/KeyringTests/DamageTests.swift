import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Testing
import TestSupport

/// What is answered, and what is not, when files are not what they should be.
@Suite struct DamageTests {
  @Test func `no swap of two item files releases a secret`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let items = (0..<20).map { NewItem.login("host\($0).example", "me") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "secret \($0)") })
    let records = try keyring.find(Query()).items
    let tree = try store.tree()
    var refused = 0
    for left in records {
      for right in records where right != left {
        let (leftFile, rightFile) = (file(left), file(right))
        let bytes = try #require(try tree.read(rightFile, limit: 1 << 20))
        let own = try #require(try tree.read(leftFile, limit: 1 << 20))
        try tree.replaceFile(leftFile, with: bytes, temporary: "tmp")
        do throws(KeyringError) {
          _ = try keyring.text(of: left)
          Issue.record("\(left.path) released the secret of \(right.path)")
        } catch {
          if case .bindingMismatch(_, .item) = error { refused += 1 }
        }
        try tree.replaceFile(leftFile, with: own, temporary: "tmp")
      }
    }
    #expect(refused == 380)
  }

  @Test func `an index line that points a server at another item's file releases nothing`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    var forged = record
    forged.attributes[.server] = .string("evil.example")
    let tree = try store.tree()
    let bytes = try #require(try tree.read(file(record), limit: 1 << 20))
    try tree.createFile(file(forged), bytes)
    try tree.remove(StoreLayout.shardFile(record.path.shard, isLocal: false))
    try tree.createFile(
      StoreLayout.shardFile(forged.path.shard, isLocal: false), try IndexLine.encode(forged) + [10])
    let found = try #require(try keyring.find(Query(text: "evil.example")).items.first)
    #expect { _ = try keyring.text(of: found) } throws: { error in
      guard case KeyringError.bindingMismatch(_, .primaryKey(.server)) = error else { return false }
      return true
    }
  }

  @Test func `a second line with the id of an item does not give that item's secret out`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    var forged = record
    forged.attributes[.server] = .string("evil.example")
    forged.sealed = ContentDigest(of: [1])
    let tree = try store.tree()
    try tree.createFile(
      StoreLayout.shardFile(forged.path.shard, isLocal: false), try IndexLine.encode(forged) + [10])
    let query = Query(predicates: [.equal(.server, "evil.example")])
    let found = try #require(try keyring.find(query).items.first)
    for asked in [nil, query, Query(itemClass: .internetPassword), Query(predicates: [.id(found.id)])] {
      #expect { _ = try keyring.secret(for: found, matching: asked) } throws: { error in
        guard case KeyringError.bindingMismatch(_, .primaryKey(.server)) = error else { return false }
        return true
      }
    }
    #expect(try keyring.text(of: record) == "s")
  }

  @Test func `an old sealed item put back beside its newer line is refused`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let old = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "old"))
    let tree = try store.tree()
    let oldBytes = try #require(try tree.read(file(old), limit: 1 << 20))
    let new = try keyring.update(old, secret: SecretBytes(text: "new"))
    try tree.replaceFile(file(old), with: oldBytes, temporary: "tmp")
    #expect { _ = try keyring.text(of: new) } throws: { error in
      guard case KeyringError.bindingMismatch(_, .olderSecret(old.secretModified)) = error else {
        return false
      }
      return true
    }
  }

  @Test func `a newer sealed item beside an older line speaks for itself, and repair settles it`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let old = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "old"))
    let tree = try store.tree()
    let shard = StoreLayout.shardFile(old.path.shard, isLocal: false)
    let oldShard = try #require(try tree.read(shard, limit: 1 << 20))
    try keyring.update(old, secret: SecretBytes(text: "new"))
    try tree.replaceFile(shard, with: oldShard, temporary: "tmp")
    #expect(try keyring.text(of: old) == "new")
    #expect { try keyring.update(old, secret: SecretBytes(text: "newest")) } throws: { error in
      guard case KeyringError.itemDamaged(_, .notAsIndexed) = error else { return false }
      return true
    }
    #expect(try keyring.check().findings.map(\.kind) == [.notAsIndexed])
    #expect(try keyring.repair().findings.isEmpty)
    #expect(try keyring.update(old, secret: SecretBytes(text: "newest")).id == old.id)
  }

  @Test("an item that is not signed by a member is damaged when the policy requires signatures")
  func signatures() throws {
    let stranger = StandInEngine.fingerprint(9)
    for signer in [nil, stranger] {
      let store = StandInStore()
      let keyring = try store.create()
      let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
      let tree = try store.tree()
      let bytes = try #require(try tree.read(file(record), limit: 1 << 20))
      let opened = try store.engine.open(bytes, limit: 1 << 20)
      let forged = try store.engine.seal(opened.plaintext, to: [store.owner], signer: signer)
      try tree.replaceFile(file(record), with: forged, temporary: "tmp")
      #expect { _ = try keyring.text(of: record) } throws: { error in
        guard case KeyringError.itemDamaged(_, let damage) = error else { return false }
        return damage == (signer == nil ? .unsigned : .badSignature)
      }
    }
  }

  /// What can stand in place of a file.
  enum Impostor: CaseIterable { case link, pipe, folder, hardLink }

  @Test("something else in place of an item is refused and put aside by repair", arguments: Impostor.allCases)
  func impostors(_ impostor: Impostor) throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let path = "\(store.path)/\(file(record))"
    #expect(unsafe rename(path, "\(store.folder.path)/original") == 0)
    place(impostor, at: path, store)
    #expect { _ = try keyring.text(of: record) } throws: { error in
      guard case KeyringError.itemDamaged(_, .notAFile) = error else { return false }
      return true
    }
    let report = try keyring.repair()
    #expect(report.findings.isEmpty)
    #expect(report.repairs.contains { if case .quarantined(file(record), _) = $0 { true } else { false } })
    var info = stat()
    #expect(unsafe lstat(path, &info) != 0, "it is out of the way")
    #expect(unsafe access("\(store.folder.path)/original", F_OK) == 0, "what a link leads to is untouched")
  }

  @Test(
    "something else in place of a shard or the policy is an error, never treated as empty",
    arguments: Impostor.allCases)
  func impostorShards(_ impostor: Impostor) throws {
    for isPolicy in [false, true] {
      let store = StandInStore()
      let keyring = try store.create()
      let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
      let name = isPolicy ? "policy.json" : StoreLayout.shardFile(record.path.shard, isLocal: false)
      let path = "\(store.path)/\(name)"
      #expect(unsafe rename(path, "\(store.folder.path)/original") == 0)
      place(impostor, at: path, store)
      #expect(throws: KeyringError.self) {
        let keyring = try store.open()
        _ = try keyring.find(Query())
      }
      #expect(throws: KeyringError.self) { try keyring.update(record, secret: SecretBytes(text: "t")) }
    }
  }

  private func place(_ impostor: Impostor, at path: String, _ store: StandInStore) {
    let original = "\(store.folder.path)/original"
    switch impostor {
    case .link: #expect(unsafe symlink(original, path) == 0)
    case .pipe: #expect(unsafe mkfifo(path, 0o600) == 0)
    case .folder: #expect(unsafe mkdir(path, 0o700) == 0)
    case .hardLink: #expect(unsafe link(original, path) == 0)
    }
  }

  @Test func `a damaged line disables only itself and stops writes to its shard until repaired`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    let shard = StoreLayout.shardFile(record.path.shard, isLocal: false)
    let good = try #require(try tree.read(shard, limit: 1 << 20))
    let bad = Array("{\"server\":\"github.com\",\"server\":\"github.com\"}\n".utf8)
    try tree.replaceFile(shard, with: good + bad, temporary: "tmp")
    let matches = try keyring.find(Query(text: "github.com"))
    #expect(matches.items == [record] && matches.problems.count == 1)
    #expect(try keyring.text(of: record) == "s")
    var set = Attributes()
    set[.label] = .string("x")
    #expect { try keyring.update(record, AttributeChanges(set: set)) } throws: { error in
      guard case KeyringError.shardDamaged(file: shard, _) = error else { return false }
      return true
    }
    #expect(try tree.read(shard, limit: 1 << 20) == good + bad)
    let report = try keyring.repair()
    #expect(report.findings.isEmpty)
    #expect(try tree.read(shard, limit: 1 << 20) == good)
    let kept = try #require(try tree.list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try tree.read(".keytree/\(kept)/\(shard)", limit: 1 << 20) == bad)
    #expect(try keyring.update(record, AttributeChanges(set: set)).attributes[.label] == .string("x"))
  }

  @Test func `a lost index is rebuilt from the sealed items, exactly`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let items = (0..<40).map {
      NewItem.login("host\($0).example", "me", [.label: .string("l\($0)"), "url": .string("u")])
    }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "\($0)") })
    let before = try keyring.find(Query()).items
    ScratchFolder.remove("\(store.path)/index")
    #expect(try keyring.check().findings.count == 40)
    let report = try keyring.repair()
    #expect(report.findings.isEmpty && report.items == 40)
    #expect(try keyring.find(Query()).items == before)
  }

  @Test func `two item files that were swapped go back to their places`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let a = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "a"))
    let b = try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "b"))
    let (fileA, fileB) = ("\(store.path)/\(file(a))", "\(store.path)/\(file(b))")
    #expect(unsafe rename(fileA, "\(store.path)/x") == 0)
    #expect(unsafe rename(fileB, fileA) == 0 && rename("\(store.path)/x", fileB) == 0)
    let report = try keyring.repair()
    #expect(report.findings.isEmpty)
    #expect(try keyring.text(of: a) == "a" && keyring.text(of: b) == "b")
  }

  @Test func `adding where an unknown file stands refuses, so that nothing is overwritten`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let tree = try store.tree()
    let file = "items/internet-password/github.com/alice.gpg"
    try tree.createFile(file, [1, 2, 3])
    #expect { try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s")) } throws: {
      error in
      guard case KeyringError.itemDamaged(_, .notInIndex) = error else { return false }
      return true
    }
    #expect(try tree.read(file, limit: 10) == [1, 2, 3])
  }

  @Test func `deleting an item whose file is not the indexed one keeps that file in quarantine`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    try tree.replaceFile(file(record), with: [1, 2, 3], temporary: "tmp")
    try keyring.delete([record])
    #expect(try keyring.find(Query()).items.isEmpty)
    let kept = try #require(try tree.list(".keytree").first { $0.hasPrefix("quarantine-") })
    #expect(try tree.read(".keytree/\(kept)/\(file(record))", limit: 10) == [1, 2, 3])
    #expect(try keyring.check().isClean)
  }

  @Test func `a line without a file is taken out by repair and kept aside`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "s"))
    try store.tree().remove(file(record))
    #expect { _ = try keyring.text(of: record) } throws: { error in
      guard case KeyringError.itemDamaged(_, .missing) = error else { return false }
      return true
    }
    #expect(try keyring.repair().findings.isEmpty)
    #expect(try keyring.find(Query()).items.isEmpty)
  }

  private func file(_ record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }
}
