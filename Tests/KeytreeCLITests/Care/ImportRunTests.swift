import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Terminal
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

/// The effects of an import on a store, with thousands of rows.
@Suite("Importing a CSV file", .serialized, .slow)
struct ImportRunTests {
  private func run(
    _ draft: ImportDraft, into keyring: Keyring, json: Bool = false, replaces: Bool = false
  ) throws -> [String] {
    let memory = MemoryConsole()
    let run = ImportRun(
      keyring: keyring, group: "default", replaces: replaces, json: json, console: memory.console)
    _ = try run(draft)
    memory.console.flush()
    return memory.output.text.split(separator: "\n").map(String.init)
  }

  private func draft(_ text: String) throws -> ImportDraft {
    try CSVImport.plan(SecretBytes(text: text)).draft
  }

  @Test("importing 5,000 rows adds each row once, and nothing the second time")
  func thousands() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let (draft, _, rows) = try CSVImport.plan(ImportFixtures.csv("chrome-5000.csv"))
    #expect(rows == 5000)
    let counts = try ImportFixtures.counts()
    let first = try run(draft, into: keyring)
    var all = Query()
    all.includesFields = true
    let records = try keyring.find(all).items
    let passwords = try #require(counts["passwords"])
    let notes = try #require(counts["notes"])
    let urls = try #require(counts["sealed URLs"])
    #expect(records.count == passwords + notes + urls)
    #expect(first.last?.hasPrefix("\(records.count) added, ") == true)
    #expect(records.count { $0.field == nil } == passwords)
    #expect(try keyring.find(Query()).items.count == passwords)

    // Each row's password is the secret of an item with the row's account.
    var secrets: [String: Set<String>] = [:]
    for record in records where record.field == nil {
      let name = (record.value(of: .account) ?? "").contentBytes ?? []
      secrets[String(decoding: name, as: UTF8.self), default: []].insert(try keyring.text(of: record))
    }
    for item in draft.items where item.part == .secret {
      #expect(secrets[item.text(.account) ?? ""]?.contains(item.secret.text) == true, "\(item.source)")
    }
    // One more encryption is that of the key of the digests.
    #expect(store.engine.statistics.encryptions == records.count + 1)

    let second = try run(draft, into: keyring)
    #expect(second.last?.hasPrefix("0 added, ") == true)
    #expect(try keyring.find(all).items == records)
    #expect(try keyring.check().isClean)
  }

  @Test("an import works with real GnuPG, on several threads")
  func gnupg() throws {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    defer { store.gnupg.close() }
    let keyring = try store.create()
    var draft = try CSVImport.plan(ImportFixtures.csv("chrome-5000.csv")).draft
    draft.logins = Array(draft.logins.filter { $0.items.count == 1 }.prefix(50))
    _ = try run(draft, into: keyring)
    let records = try keyring.find(Query()).items
    #expect(records.count == 50)
    // The order is that of the file, independent of the order in which the threads finish.
    #expect(try records.map { try keyring.text(of: $0) } == draft.items.map(\.secret.text))
    #expect(try run(draft, into: keyring).last == "0 added, 50 already in the store")
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test("an import adds missing attributes to an existing item, in the same transaction")
  func completes() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let header = "name,url,username,password\n"
    _ = try run(draft(header + ",https://a.example/x,me,s\n"), into: keyring)
    let before = try #require(try keyring.find(Query()).items.first)
    let lines = try run(
      draft(header + "Label,https://a.example/x,me,s\n,https://b.example,me,t\n"), into: keyring)
    #expect(lines.last == "1 added, 1 completed")
    let after = try #require(try keyring.find(Query(predicates: [.id(before.id)])).items.first)
    #expect(after.attributes[.label] == "Label" && after.revision == before.revision)
    let lock = try #require(try store.tree().read(".keytree/lock", limit: 100))
    #expect(String(decoding: lock, as: UTF8.self).hasPrefix("00000000000000000002 "), "two transactions")
  }

  @Test("a login with another secret is reported, and replaced with `--update`")
  func different() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let old = try keyring.add(
      .login("a.example", "me", [.protocol: "https"]), secret: SecretBytes(text: "mine"))
    let file = try draft("name,url,username,password\nA,https://a.example/x,me,theirs\n")
    for _ in 0..<2 {
      let lines = try run(file, into: keyring)
      #expect(
        lines == [
          "row 2: NOT imported: a.example/me has another secret; `--update` replaces it",
          "0 added, 1 different in the store and not imported",
        ])
    }
    #expect(try keyring.find(Query()).items == [old])

    let lines = try run(file, into: keyring, replaces: true)
    #expect(
      lines == ["row 2: replaced the secret of a.example/me", "0 added, 1 replaced"])
    let items = try keyring.find(Query()).items
    let new = try #require(items.first)
    #expect(items.count == 1 && new.id == old.id && new.revision != old.revision)
    #expect(try keyring.text(of: new) == "theirs" && new.attributes[.label] == "A")
    #expect(try run(file, into: keyring, replaces: true) == ["0 added, 1 already in the store"])
    #expect(try keyring.check().isClean)
  }

  @Test("a second run decrypts the key of the digests and nothing else")
  func secondRun() throws {
    let store = StandInStore()
    _ = try store.create()
    let rows = (0..<50).map { ",https://a.example,user\($0),secret \($0)\n" }
    let file = try draft("name,url,username,password\n" + rows.joined())
    #expect(try run(file, into: store.open()).last == "50 added")
    #expect(store.engine.statistics.decryptions == 0)
    #expect(try run(file, into: store.open()).last == "0 added, 50 already in the store")
    #expect(store.engine.statistics.decryptions == 1)

    // Only the item whose digest differs is decrypted.
    let changed = try draft(
      "name,url,username,password\n" + rows.dropLast().joined() + ",https://a.example,user49,x\n")
    #expect(
      try run(changed, into: store.open(), replaces: true).last
        == "0 added, 49 already in the store, 1 replaced")
    #expect(store.engine.statistics.decryptions == 3)
    #expect(try run(changed, into: store.open()).last == "0 added, 50 already in the store")
    #expect(store.engine.statistics.decryptions == 4)
  }

  @Test("files of the digests that are missing, damaged or of another key only cost time", arguments: 0..<5)
  func damagedDigests(kind: Int) throws {
    let store = StandInStore()
    _ = try store.create()
    let file = try draft("name,url,username,password\n,https://a.example,me,s\n,https://b.example,me,t\n")
    _ = try run(file, into: store.open())
    let state = try FileTree(at: store.host.stateBase)
    let folder = "\(try store.open().policy.keyring.hex)/imports"
    let names = try state.list(folder)
    #expect(names.sorted() == ["digests", "key"])
    switch kind {
    case 0: try state.remove("\(folder)/key")
    case 1: try state.remove("\(folder)/digests")
    case 2: try state.replaceFile("\(folder)/key", with: [1, 2, 3], temporary: "\(folder)/new")
    case 3: try state.replaceFile("\(folder)/digests", with: Array("x y\n".utf8), temporary: "\(folder)/new")
    default:
      // All digests are those of other secrets.
      let bytes = try #require(try state.read("\(folder)/digests", limit: 1 << 20))
      let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      let digests = text.dropFirst().map { $0.split(separator: " ") }
      let swapped = zip(digests, digests.reversed()).map { "\($0[0]) \($1[1])" }
      let lines = [text[0]] + swapped
      try state.replaceFile(
        "\(folder)/digests", with: Array((lines.joined(separator: "\n") + "\n").utf8),
        temporary: "\(folder)/new")
    }
    for _ in 0..<2 {
      #expect(try run(file, into: store.open()).last == "0 added, 2 already in the store")
    }
  }

  @Test("the kept digests cannot be computed without the key")
  func digestsAreKeyed() throws {
    let file = try draft("name,url,username,password\n,https://a.example,me,correct horse\n")
    var kept: Set<[UInt8]> = []
    for _ in 0..<2 {
      let store = StandInStore()
      _ = try run(file, into: store.create())
      let folder = "\(try store.open().policy.keyring.hex)/imports"
      let bytes = try #require(
        try FileTree(at: store.host.stateBase).read("\(folder)/digests", limit: 1 << 20))
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(
        !text.contains("correct") && !text.contains(ContentDigest(of: Array("correct horse".utf8)).base64url))
      kept.formUnion(bytes.split(separator: 10).flatMap { $0.split(separator: 32).suffix(1) }.map(Array.init))
    }
    // Each store has a key of its own.
    #expect(kept.count == 4)
  }

  @Test("an item whose file was replaced is not the one that the digests know")
  func replacedFile() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let file = try draft("name,url,username,password\n,https://a.example,me,s\n")
    _ = try run(file, into: keyring)
    let path = try #require(try keyring.find(Query()).items.first).path.text
    let message = try store.engine.seal(SecretBytes(text: "other"), to: [store.owner])
    try store.tree().replaceFile("items/\(path).gpg", with: message, temporary: "new")
    #expect(throws: KeyringError.self) { try run(file, into: store.open()) }
  }

  @Test("the loser of two concurrent imports reports what it did, and adds nothing twice")
  func concurrent() throws {
    let store = StandInStore()
    _ = try store.create()
    let rows = (0..<200).map { ",https://a.example,user\($0),secret \($0)\n" }
    let file = try draft("name,url,username,password\n" + rows.joined())
    let reports = try WorkerPool(workers: 4).map(4) { _ in try run(file, into: store.open()).last ?? "" }
    #expect(
      reports.sorted() == [
        "0 added, 200 already in the store", "0 added, 200 already in the store",
        "0 added, 200 already in the store", "200 added",
      ])
    #expect(try store.open().find(Query()).items.count == 200)
  }

  @Test("an import that cannot take the lock reports nothing as done")
  func busy() throws {
    let store = StandInStore()
    _ = try store.create()
    let file = try draft("name,url,username,password\n,https://a.example,me,s\n")
    let lock = try store.tree().openForLock(".keytree/lock")
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    var host = store.host
    host.lockTimeout = 0.1
    let keyring = try Keyring.open(at: store.path, host: host, faults: nil, engine: store.engine)
    let memory = MemoryConsole()
    let run = ImportRun(keyring: keyring, group: "default", json: false, console: memory.console)
    #expect(throws: KeyringError.busy(holder: getpid())) { try run(file) }
    memory.console.flush()
    #expect(memory.output.text.isEmpty)
  }
}
