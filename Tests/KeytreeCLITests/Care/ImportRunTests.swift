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
@Suite("Importing a CSV file")
struct ImportRunTests {
  private func run(
    _ draft: ImportDraft, into keyring: Keyring, host: HostContext, json: Bool = false
  ) throws -> [String] {
    let memory = MemoryConsole()
    let run = ImportRun(
      keyring: keyring, host: host, group: "default", isDryRun: false, acceptsLoss: false, json: json,
      console: memory.console)
    try run(draft)
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
    let first = try run(draft, into: keyring, host: store.host)
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
    #expect(store.engine.statistics.encryptions == records.count)

    let second = try run(draft, into: keyring, host: store.host)
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
    _ = try run(draft, into: keyring, host: store.host)
    let records = try keyring.find(Query()).items
    #expect(records.count == 50)
    // The order is that of the file, independent of the order in which the threads finish.
    #expect(try records.map { try keyring.text(of: $0) } == draft.items.map(\.secret.text))
    #expect(try run(draft, into: keyring, host: store.host).last == "0 added, 50 already in the store")
    #expect(try keyring.check(decrypts: true).isClean)
  }

  @Test("an import adds missing attributes to an existing item, in the same transaction")
  func completes() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let header = "name,url,username,password\n"
    _ = try run(draft(header + ",https://a.example/x,me,s\n"), into: keyring, host: store.host)
    let before = try #require(try keyring.find(Query()).items.first)
    let lines = try run(
      draft(header + "Label,https://a.example/x,me,s\n,https://b.example,me,t\n"), into: keyring,
      host: store.host)
    #expect(lines.last == "1 added, 1 completed")
    let after = try #require(try keyring.find(Query(predicates: [.id(before.id)])).items.first)
    #expect(after.attributes[.label] == "Label" && after.revision == before.revision)
    let lock = try #require(try store.tree().read(".keytree/lock", limit: 100))
    #expect(String(decoding: lock, as: UTF8.self).hasPrefix("00000000000000000002 "), "two transactions")
  }

  @Test("an import replaces nothing: a different secret with the same name is added beside the existing one")
  func beside() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let old = try keyring.add(
      .login("a.example", "me", [.protocol: "https"]), secret: SecretBytes(text: "mine"))
    let file = try draft("name,url,username,password\n,https://a.example,me,theirs\n")
    #expect(try run(file, into: keyring, host: store.host).last?.hasPrefix("1 added, 1 of them") == true)
    #expect(try keyring.text(of: old) == "mine")
    #expect(try run(file, into: keyring, host: store.host).last == "0 added, 1 already in the store")
  }
}
