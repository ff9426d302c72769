import Foundation
import Glibc
import Keyring
import KeyringModel
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests that a transaction never loses an item, blocks the store or reaches outside it.
@Suite(.serialized) struct TransactionTests {
  @Test func `an error that is caught inside a transaction stops the whole transaction`() throws {
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
        // Caught, as by a program that continues with the next item.
        _ = try? changes.update(record, AttributeChanges(set: set))
      }
    }
    #expect(try keyring.text(of: record) == "s")
    #expect(try keyring.find(Query(text: "a.example")).items == [record])
  }

  @Test
  func
    `an item that is changed and then removed in one transaction is old or gone, whenever the writer is killed`()
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
    "a transaction record that this program could not have written is not followed",
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

  @Test func `a transaction record that puts a policy in place, as a merge does, does not make it trusted`()
    throws
  {
    let store = StandInStore()
    let keyring = try store.create()
    let folder = ".keytree/transaction-00"
    let policy = try #require(try store.tree().read("policy.json", limit: 1 << 20))
    let old = ContentDigest(of: policy).base64url
    let record = #"{"format":1,"steps":[{"old":"\#(old)","path":"policy.json","place":"0"}]}"#
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

  @Test func `a transaction record from another machine does not destroy a local item`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    var item = NewItem.login("a.example", "me")
    item.isLocal = true
    let record = try keyring.add(item, secret: SecretBytes(text: "s"))
    let file = StoreLayout.itemFile(record.path, isLocal: true)
    let bytes = try store.tree().read(file, limit: 1 << 20)
    let folder = ".keytree/transaction-00"
    for old in ["", #""old":"\#(ContentDigest(of: [1]).base64url)","#] {
      let steps = "{\"format\":1,\"steps\":[{\(old)\"remove\":\"\(file)\"}]}\n"
      try store.tree().createFile("\(folder)/commit.json", Array(steps.utf8))
      #expect(throws: KeyringError.transactionOutdated(folder: folder)) { try keyring.find(Query()) }
      #expect(try keyring.repair().isClean)
      #expect(try store.tree().read(file, limit: 1 << 20) == bytes)
    }
  }

  /// Changes a secret, and is killed after the transaction was committed.
  ///
  /// - Returns: True if it was killed. With more steps than there are, it is not.
  @discardableResult
  private func decide(
    _ store: StandInStore, _ record: ItemRecord, _ secret: String, after steps: Int = 0
  ) throws -> Bool {
    let count = Mutex<Int?>(nil)
    let dying = try store.open(faults: { operation, path in
      count.withLock { count in
        if let number = count {
          count = number + 1
          return number >= steps ? .fail(4) : nil
        }
        if operation == .rename, path.hasSuffix("/commit.json") { count = 0 }
        return nil
      }
    })
    do {
      try dying.update(record, .set(.label, .string(secret)), secret: SecretBytes(text: secret))
      return false
    } catch {
      return true
    }
  }

  @Test func `an interrupted change does not replace later changes`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    try decide(store, record, "t")
    let tree = try store.tree()
    let pending = try tree.list(".keytree").first { $0.hasPrefix("transaction-") }
    let folder = ".keytree/\(try #require(pending))"
    // Another machine gets a copy of the folder, while this one finishes the transaction and makes another change.
    let copied = "\(store.folder.path)/copied"
    try FileManager.default.copyItem(atPath: "\(store.path)/\(folder)", toPath: copied)
    try store.open().update(record, secret: SecretBytes(text: "u"))
    try FileManager.default.copyItem(atPath: copied, toPath: "\(store.path)/\(folder)")
    #expect(throws: KeyringError.transactionOutdated(folder: folder)) { try store.open().find(Query()) }
    #expect(try store.open().repair().isClean)
    let found = try #require(try store.open().find(Query()).items.first)
    #expect(try store.open().text(of: found) == "u")
    #expect(try tree.list(".keytree").contains { $0.hasPrefix("quarantine-") })
  }

  @Test func `a store that was copied during a change has the old or the new version`() throws {
    var steps = 0
    while true {
      let store = StandInStore()
      let keyring = try store.create()
      let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
      guard try decide(store, record, "t", after: steps) else { break }
      // A copy has other files: two hard links to one file become two files.
      let kept = "\(store.folder.path)/kept"
      try FileManager.default.copyItem(atPath: store.path, toPath: kept)
      try FileManager.default.removeItem(atPath: store.path)
      try FileManager.default.moveItem(atPath: kept, toPath: store.path)
      let found = try store.open().find(Query()).items
      #expect(try found.map { try store.open().text(of: $0) } == ["t"], "interrupted after \(steps) steps")
      #expect(try store.open().check(decrypts: true).findings == [], "interrupted after \(steps) steps")
      steps += 1
    }
    #expect(steps > 10)
  }

  @Test func `an applied transaction does not reappear after a power cut`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let log = Mutex<[(FileOperation, String)]>([])
    let traced = try store.open(faults: { operation, path in
      log.withLock { $0.append((operation, path)) }
      return nil
    })
    try traced.update(record, secret: SecretBytes(text: "t"))
    let steps = log.withLock { $0 }
    let removed = try #require(steps.lastIndex { $0.0 == .removeDirectory && $0.1.contains("/transaction-") })
    #expect(steps[removed...].contains { $0 == (.synchronizeDirectory, ".keytree") })
  }

  @Test func `a quarantined file has its new name on disk before its old name is removed`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    _ = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    let strays = ["items/stray", "items/internet-password/a.example/stray.txt"]
    for path in strays { try tree.createFile(path, [1]) }
    try tree.createFile("items/folder/stray", [1])
    let log = Mutex<[(FileOperation, String)]>([])
    let traced = try store.open(faults: { operation, path in
      log.withLock { $0.append((operation, path)) }
      return nil
    })
    #expect(try traced.repair().isClean)
    let steps = log.withLock { $0 }
    for path in strays {
      let linked = try #require(steps.firstIndex { $0.0 == .link && $0.1.hasSuffix(path) })
      let removed = try #require(steps.firstIndex { $0 == (.remove, path) })
      var folder = RelativePath.parent(of: steps[linked].1)
      while folder != "" {
        let isFlushed = steps[linked..<removed].contains { $0 == (.synchronizeDirectory, folder) }
        #expect(isFlushed, "\(folder) of \(path)")
        folder = RelativePath.parent(of: folder)
      }
    }
    // A folder cannot have two names: its new parent is flushed before the old one.
    let renamed = try #require(steps.firstIndex { $0.0 == .rename && $0.1.hasSuffix("items/folder") })
    let rest = steps[renamed...]
    let new = try #require(
      rest.firstIndex { $0 == (.synchronizeDirectory, RelativePath.parent(of: steps[renamed].1)) })
    let old = try #require(rest.lastIndex { $0 == (.synchronizeDirectory, "items") })
    #expect(new < old)
  }

  @Test func `a shard that is too large is quarantined, not overwritten`() throws {
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

  @Test func `folders are created in the right place, whatever script their names are in`() throws {
    let scratch = ScratchFolder()
    for name in ["иван", "e\u{301}", "名前"] {
      #expect(unsafe mkdir("\(scratch.path)/\(name)", 0o700) == 0)
      try StoreFolder.makeFolder("\(scratch.path)/\(name)/.local/state/keytree")
      let tree = try FileTree(at: "\(scratch.path)/\(name)")
      #expect(try tree.status(".local/state/keytree")?.kind == .directory)
      #expect(try tree.list("") == [".local"])
    }
  }

  /// A file system that does not order the two folders of a rename can lose the file between them.
  @Test(arguments: [true, false])
  func `an item survives a power cut between the two folders of a rename`(renames: Bool) throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let tree = try store.tree()
    let state = Mutex<(placed: [String: [UInt8]?], isCut: Bool)>(([:], false))
    // The power is cut before a folder that has received a file is flushed.
    let dying = try store.open(faults: { operation, path in
      state.withLock { state in
        if state.isCut { return .fail(4) }
        if operation == .rename, path.hasPrefix("items/") || path.hasPrefix("index/") {
          state.placed.updateValue((try? tree.read(path, limit: 1 << 20)) ?? nil, forKey: path)
        }
        let isFlush = operation == .synchronizeDirectory || operation == .synchronizeAll
        state.isCut = isFlush && !state.placed.isEmpty
        return state.isCut ? .fail(4) : nil
      }
    })
    #expect(throws: KeyringError.self) {
      if renames {
        try dying.update(record, AttributeChanges(set: Self.server("b.example")))
      } else {
        try dying.update(record, secret: SecretBytes(text: "t"))
      }
    }
    // The files have left the folder of the transaction and are not yet in the other one.
    for (path, old) in state.withLock({ $0.placed }) {
      try tree.remove(path)
      if let old { try tree.createFile(path, old) }
    }
    let found = try store.open().find(Query()).items
    #expect(found.map(\.path.text) == ["internet-password/\(renames ? "b" : "a").example/me"])
    #expect(try store.open().text(of: try #require(found.first)) == (renames ? "s" : "t"))
    #expect(try store.open().check(decrypts: true).findings == [])
    #expect(try tree.list(".keytree") == ["lock"])
  }

  @Test func `an old file is removed only after the folder of the new one is on disk`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let log = Mutex<[(FileOperation, String)]>([])
    let traced = try store.open(faults: { operation, path in
      log.withLock { $0.append((operation, path)) }
      return nil
    })
    try traced.update(record, AttributeChanges(set: Self.server("b.example")))
    let steps = log.withLock { $0 }
    let removed = try #require(steps.firstIndex { $0.0 == .remove && $0.1.hasPrefix("items/") })
    let placed = steps.filter { $0.0 == .rename && $0.1.hasPrefix("items/") }.map(\.1)
    #expect(placed.count == 2)
    for path in placed {
      let flushed = steps.firstIndex { $0 == (.synchronizeDirectory, RelativePath.parent(of: path)) }
      #expect(flushed.map { $0 < removed } ?? false, "\(path)")
    }
  }

  private static func server(_ name: String) -> Attributes {
    var attributes = Attributes()
    attributes[.server] = .string(name)
    return attributes
  }
}
