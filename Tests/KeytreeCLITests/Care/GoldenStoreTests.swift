import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Stores that were generated once; `fixtures/stores/README.md` describes them. With `UPDATE_STORES=1` in the
/// environment, `v1.jsonl` and the `.findings` files are rewritten to the actual output. Review the difference before
/// you commit it.
@Suite("Golden stores", .serialized, .slow)
struct GoldenStoreTests {
  static let folder = CareTranscriptTests.fixtures.appendingPathComponent("stores")

  static let damaged: [String] = {
    // Without the folder there are no test cases, and `there are damaged stores` fails.
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasPrefix("damaged-") && !$0.hasSuffix(".findings") }.sorted()
  }()

  private let isUpdate = ProcessInfo.processInfo.environment["UPDATE_STORES"] != nil

  private static func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.file(name), encoding: .utf8)
  }

  private func trust(_ world: MaintenanceFixture) {
    #expect(world.run("trust", "--fingerprint", GnuPGKey.alice.fingerprint.text).code == .done)
  }

  @Test("a store of format 1 is read exactly as it was written, byte for byte")
  func format1() throws {
    let world = try MaintenanceFixture()
    try world.useStore("v1")
    trust(world)
    let found = world.run("find", "--json", "--sort", "created")
    if isUpdate { try found.text.write(to: Self.file("v1.jsonl"), atomically: true, encoding: .utf8) }
    // The order is not part of the format.
    let expected = try text("v1.jsonl").split(separator: "\n").map(String.init)
    #expect(found.code == .done && found.lines.sorted() == expected.sorted())
    #expect(found.lines.count == 12, "11 items, and a note without a login")
    let secrets = try text("v1.secrets").split(separator: "\n").map { $0.split(separator: " ") }
    #expect(secrets.count == 13)
    for line in secrets {
      let answer = world.run("get", String(line[0]))
      let hexadecimal = answer.bytes.map { String(format: "%02x", $0) }.joined()
      #expect(answer.code == .done && hexadecimal == String(line[1]), "\(line[0])")
    }
    #expect(world.run("check", "--decrypt").code == .done)
  }

  @Test("damage to a store is found exactly as expected, and repaired without loss", arguments: damaged)
  func damage(name: String) throws {
    let world = try MaintenanceFixture()
    // The policy of this store is valid and is the same in all damaged stores.
    try world.useStore("damaged-line")
    trust(world)
    try world.useStore(name)
    let files = try Self.fileCount(world.store)

    let check = Self.transcript(world, "check", "--decrypt")
    #expect(Self.transcript(world, "check", "--decrypt") == check, "checking changes nothing")
    #expect(check.last == "? \(ExitCode.failedChecks.rawValue)")
    let happened = (check + Self.transcript(world, "check", "--decrypt", "--repair")).map {
      $0.replacing(/quarantine-[0-9TZ]+/, with: "quarantine-TIME")
        .replacing(/file on [0-9-]+;/, with: "file on DATE;")
    }
    if isUpdate {
      let file = Self.file("\(name).findings")
      try happened.map { $0 + "\n" }.joined().write(to: file, atomically: true, encoding: .utf8)
    }
    let expected = try text("\(name).findings").split(separator: "\n").map(String.init)
    #expect(happened == expected, "\(LineDifference.show(expected, happened))")
    #expect(try Self.fileCount(world.store) >= files, "nothing is deleted")
  }

  /// Runs a command and returns its output, its error and its status in the form of a transcript.
  private static func transcript(_ world: MaintenanceFixture, _ words: String...) -> [String] {
    let answer = world.run(words)
    let errors = answer.talk.split(separator: "\n").filter { $0.hasPrefix("keytree: ") }.map { "2> \($0)" }
    return ["$ keytree \(words.joined(separator: " "))"] + answer.lines + errors + [
      "? \(answer.code.rawValue)"
    ]
  }

  @Test("there are damaged stores")
  func exist() { #expect(Self.damaged.count >= 20) }

  /// The number of item files, quarantined ones included: a repair may rewrite the index, but must not lose an item.
  private static func fileCount(_ folder: String) throws -> Int {
    try FileManager.default.subpathsOfDirectory(atPath: folder).count { $0.hasSuffix(".gpg") }
  }
}
