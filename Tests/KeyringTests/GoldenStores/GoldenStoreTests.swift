import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// Tests the stores in `fixtures/stores`, which the README there describes. With `UPDATE_STORES=1` in the environment,
/// `damaged.txt` is rewritten with the actual results.
@Suite(.serialized) struct GoldenStoreTests {
  private static let folder = MarkdownDocument.root.appendingPathComponent("fixtures/stores")

  private let store: GnuPGStore

  init() throws { store = GnuPGStore(try GnuPGHome(secret: [.alice])) }

  /// Copies a golden store to the path of the store and makes it private to the owner, which a checkout may not be.
  private func use(_ name: String) throws {
    try? FileManager.default.removeItem(atPath: store.path)  // It does not exist the first time.
    try FileManager.default.copyItem(
      atPath: Self.folder.appendingPathComponent(name).path, toPath: store.path)
    for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: store.path) {
      let path = "\(store.path)/\(name)"
      guard
        try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeDirectory
      else { continue }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
  }

  @Test func `format 1 is read exactly as it was written`() throws {
    try use("v1")
    try Trust(at: store.path, host: store.host).accept()
    let keyring = try store.open()
    let secrets = try text("v1.secrets").split(separator: "\n").map { $0.split(separator: " ") }
    #expect(secrets.count == 13)
    var query = Query()
    query.includesFields = true
    let records = try keyring.find(query).items
    #expect(records.map(\.reference.text) == secrets.map { String($0[0]) })
    for (record, line) in zip(records, secrets) {
      let secret = try keyring.secret(for: record)
      #expect(unsafe secret.withBytes { unsafe Hexadecimal.text(Array($0)) } == line[1])
    }
    #expect(try keyring.find(Query()).items.count == 11)
    let copies = try keyring.conflictCopies()
    #expect(copies.count == 1)
    #expect(try keyring.secret(of: copies[0]).text() == "old")
    #expect(try keyring.check(decrypts: true).findings == [])
  }

  @Test func `every damaged store has exactly the expected findings, and repair loses nothing`() throws {
    try use("damaged-no-file")
    try Trust(at: store.path, host: store.host).accept()
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasPrefix("damaged-") && !$0.hasSuffix(".findings") }.sorted()
    #expect(names.count >= 30)
    var lines: [String] = []
    for name in names {
      try use(name)
      let files = try fileCount()
      let keyring = try store.open()
      let digest = StoreDigest(of: store.path)
      lines.append(name)
      lines += try keyring.check(decrypts: true).findings.map { "  \($0.path): \($0.kind)" }
      #expect(StoreDigest(of: store.path) == digest, "a check changes nothing")
      do throws(KeyringError) {
        let report = try keyring.repair(decrypts: true)
        lines += report.repairs.map { "  repair: \($0)" }
        lines += report.findings.map { "  left: \($0.path): \($0.kind)" }
        let again = try keyring.repair(decrypts: true)
        #expect(again.repairs.isEmpty && again.findings == report.findings, "\(name)")
      } catch {
        lines.append("  not repaired: \(error)")
      }
      #expect(try fileCount() >= files, "\(name): nothing is deleted")
    }
    let happened = lines.map { line in
      ["Encoding.", "FileSystem.", "KeyringModel.", "Keyring.", "OpenPGP."].reduce(line) {
        $0.replacing($1, with: "")
      }
      .replacing(/quarantine-[0-9TZ]+/, with: "quarantine-TIME")
    }
    if ProcessInfo.processInfo.environment["UPDATE_STORES"] != nil {
      try happened.map { $0 + "\n" }.joined()
        .write(to: Self.folder.appendingPathComponent("damaged.txt"), atomically: true, encoding: .utf8)
    }
    let expected = try text("damaged.txt").split(separator: "\n").map(String.init)
    #expect(happened == expected, "\(happened.joined(separator: "\n"))")
  }

  /// Returns the number of encrypted files and records, in place or in quarantine. Repair may rewrite the index, but
  /// loses no item.
  private func fileCount() throws -> Int {
    try FileManager.default.subpathsOfDirectory(atPath: store.path).count {
      $0.hasSuffix(".gpg") || $0.hasSuffix("me.json") || $0.hasSuffix("other.json")
    }
  }
}
