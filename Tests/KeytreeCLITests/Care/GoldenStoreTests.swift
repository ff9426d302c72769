import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Stores that were made once and are never made again; `fixtures/stores/README.md` says what they are.
@Suite("Golden stores")
struct GoldenStoreTests {
  static let folder = CareTranscriptTests.fixtures.appendingPathComponent("stores")

  static let damaged: [String] = {
    // Without the folder there are no tests, and `exist` fails.
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasPrefix("damaged-") && !$0.hasSuffix(".findings") }.sorted()
  }()

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
  }

  private func trust(_ world: CareWorld) {
    #expect(world.run("trust", "--fingerprint", GnuPGKey.alice.fingerprint.text).code == .done)
  }

  @Test("of format 1 are read as they were written, to the last byte")
  func format1() throws {
    let world = try CareWorld()
    try world.useStore("v1")
    trust(world)
    #expect(world.run("find", "--json").text == (try text("v1.jsonl")))
    let secrets = try text("v1.secrets").split(separator: "\n").map { $0.split(separator: " ") }
    #expect(secrets.count == 13)
    for line in secrets {
      let answer = world.run("get", String(line[0]))
      let hexadecimal = answer.bytes.map { String(format: "%02x", $0) }.joined()
      #expect(answer.code == .done && hexadecimal == String(line[1]), "\(line[0])")
    }
    #expect(world.run("check", "--decrypt").code == .done)
  }

  @Test("with damage are found to be damaged in just that way, and repaired without loss", arguments: damaged)
  func damage(name: String) throws {
    let world = try CareWorld()
    // Its policy is the one of all damaged stores, and sound.
    try world.useStore("damaged-line")
    trust(world)
    try world.useStore(name)
    let files = try Self.fileCount(world.store)

    var lines: [String] = world.run("check", "--decrypt").lines
    let first = world.run("check", "--decrypt")
    #expect(first.code == .failedChecks)
    #expect(first.lines == lines, "looking changes nothing")
    lines += ["--repair"] + world.run("check", "--repair", "--decrypt").lines
    let happened = lines.map { $0.replacing(/quarantine-[0-9TZ]+/, with: "quarantine-TIME") }
    let expected = try text("\(name).findings").split(separator: "\n").map(String.init)
    #expect(happened == expected, "\(LineDifference.show(expected, happened))")
    #expect(try Self.fileCount(world.store) >= files, "nothing is deleted")
  }

  @Test("exist")
  func exist() { #expect(Self.damaged.count >= 20) }

  /// The files of items, in place or put aside: a repair may rewrite the index, but loses no item.
  private static func fileCount(_ folder: String) throws -> Int {
    try FileManager.default.subpathsOfDirectory(atPath: folder).count { $0.hasSuffix(".gpg") }
  }
}
