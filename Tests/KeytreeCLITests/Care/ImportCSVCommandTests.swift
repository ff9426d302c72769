import CommandSupport
import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

/// `import csv` as a user runs it, with real GnuPG. `ImportRunTests` imports all 5,000 rows with a stand-in engine.
@Suite("Importing a CSV file with the command", .serialized)
struct ImportCSVCommandTests {
  @Test("importing the first 200 rows of Chrome's export adds each row once, and nothing the second time")
  func rows() throws {
    let world = try MaintenanceFixture()
    let file = "\(world.scratch.path)/passwords.csv"
    let bytes = try Self.rows(201, of: ImportFixtures.csv("chrome-5000.csv").revealed)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let (draft, _, count) = try CSVImport.plan(SecretBytes(copying: bytes))
    #expect(count == 200)
    let wanted = ImportedStore().merge(draft).additions
    #expect(wanted.count >= 195)

    #expect(world.run("init", "--no-git").code == .done)
    let first = world.run("import", "csv", file)
    #expect(first.code == .done, "\(first.talk)")
    #expect(first.lines.last?.hasPrefix("\(wanted.count) added") == true, "\(first.lines.last ?? "")")
    let found = world.run("find", "--json").lines
    #expect(found.count == wanted.count { $0.field == nil })
    #expect(
      found.count { $0.contains(#""fields":["#) }
        == Set(wanted.filter { $0.field != nil }.map(\.path.login)).count)

    for item in wanted.enumerated().filter({ $0.offset % 20 == 0 }).map(\.element) {
      let answer = world.run("get", ItemReference.path(item.path).text)
      #expect(answer.code == .done && answer.bytes == item.secret.publicBytes(), "\(item.source)")
    }
    let second = world.run("import", "csv", file)
    #expect(second.code == .done && second.lines.last?.hasPrefix("0 added, ") == true, "\(second.talk)")
    #expect(world.run("find", "--json").lines == found)
    let check = world.run("check", "--decrypt")
    #expect(check.code == .done && check.talk.contains("\(wanted.count) decrypted"), "\(check.text)")
  }

  /// The first rows of a CSV file, including the header. A line end within quotes does not end a row.
  private static func rows(_ count: Int, of file: [UInt8]) throws -> [UInt8] {
    var (left, isQuoted) = (count, false)
    for (offset, byte) in file.enumerated() {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      guard byte == UInt8(ascii: "\n"), !isQuoted else { continue }
      left -= 1
      if left == 0 { return Array(file[...offset]) }
    }
    Issue.record("the file has fewer rows")
    return file
  }
}
