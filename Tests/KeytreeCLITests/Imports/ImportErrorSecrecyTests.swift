import CommandSupport
import Foundation
import TestSupport
import Testing
@testable import KeytreeCLI

/// An error in a file of another program must not print a part of the file, because it may be a password (threat T57).
@Suite("Errors of imports contain no secret of the file", .serialized)
struct ImportErrorSecrecyTests {
  private static let secret = "hunter2-marker"

  /// A file of each format in which the secret is in every place that can have one.
  private static let samples: [(format: String, text: String)] = [
    (
      "csv",
      "name,url,username,password,note,\(secret)\nn,https://a.example/?\(secret),u,\(secret),\(secret),x\n"
    ),
    (
      "bitwarden",
      """
      {"items":[{"type":1,"name":"n","notes":"\(secret)","login":{"username":"u","password":"\(secret)",
      "totp":"\(secret)","uris":[{"uri":"https://u:\(secret)@a.example/"}]},
      "fields":[{"name":"f","type":1,"value":"\(secret)"}],"passwordHistory":[{"password":"\(secret)"}]}]}
      """
    ),
    (
      "keepass-xml",
      """
      <KeePassFile><Root><Group><Name>g</Name><Entry><String><Key>Title</Key><Value>n</Value></String>
      <String><Key>Password</Key><Value ProtectInMemory="True">\(secret)</Value></String>
      <String><Key>Title</Key><Value ProtectInMemory="True">\(secret)</Value></String>
      <String><Key>x</Key><Value>{REF:P@I:\(secret)}</Value></String>
      <String><Key>Notes</Key><Value>\(secret)</Value></String></Entry></Group></Root></KeePassFile>
      """
    ),
    (
      "netrc",
      """
      machine a.example login u password \(secret) account \(secret)
      machine b.example login u password p macdef \(secret)

      machine c.example login u password "\(secret)" password \(secret)

      """
    ),
    (
      "keychain-dump",
      """
      keychain: "k"
      version: 512
      class: "genp"
      attributes:
          "svce"<blob>="s"
          "acct"<blob>="a"
      data:
      "\(secret)"

      """
    ),
    (
      "json",
      """
      {"format":"keytree","version":1,"items":[{"class":"generic-password","attributes":{"service":"s"},
      "secret":"\(secret)"},{"class":"generic-password","attributes":{"service":"s","field":"note"},
      "secret":{"base64":"\(secret)"}},{"class":"\(secret)","attributes":{},"secret":"\(secret)"}]}
      """
    ),
  ]

  private let world: MaintenanceFixture

  init() throws {
    world = try MaintenanceFixture()
    #expect(world.run("init", "--no-git").code == .done)
  }

  private func expectSecrecy(_ format: String, _ text: String, _ options: [String] = []) {
    for words in [["import", format, "-"], ["import", "-"]] {
      let answer = world.run(
        words + ["--dry-run", "--verbose", "--accept-loss"] + (words.count == 3 ? options : []),
        input: Array(text.utf8))
      let output = answer.text + answer.talk
      #expect(!output.contains(Self.secret), "\(text)\n\(output)")
    }
  }

  @Test("a password in a table without a header is not printed if two cells of the first row are equal")
  func header() {
    let secret = Self.secret
    for row in ["\(secret),alice,\(secret),x", "x,\(secret),\" \(secret)\"", "\(secret);x;\(secret)"] {
      expectSecrecy("csv", "\(row)\n\(row)\n", ["--map", "x=secret"])
      expectSecrecy("csv", "\(row)\n")
    }
    let long = secret + String(repeating: "x", count: 2000)
    expectSecrecy("csv", "x,\(long)\nx,y\n", ["--map", "x=secret"])
  }

  @Test("a file that ends anywhere is reported without its secrets", arguments: samples)
  func truncated(format: String, text: String) {
    // The name of an unknown column is not a secret in a table with the header of a known program.
    let text = format == "csv" ? text.replacing("note,\(Self.secret)", with: "note,other") : text
    expectSecrecy(format, text)
    for length in stride(from: 1, to: text.utf8.count, by: 7) {
      expectSecrecy(format, String(decoding: text.utf8.prefix(length), as: UTF8.self))
    }
  }

  @Test("a file that is damaged anywhere is reported without its secrets", arguments: samples)
  func damaged(format: String, text: String) {
    let bytes = Array(text.utf8)
    let separators = bytes.indices.filter { "\",;:<>{}[]\n= ".utf8.contains(bytes[$0]) }
    let isCSV = format == "csv"
    for index in stride(from: 0, to: separators.count, by: isCSV ? 1 : 3).map({ separators[$0] }) {
      for byte in [0, UInt8(ascii: "\""), UInt8(ascii: "<")] {
        var damaged = bytes
        damaged[index] = byte
        guard !isCSV || String(decoding: damaged, as: UTF8.self).hasPrefix("name") else { continue }
        let known = String(decoding: damaged, as: UTF8.self).replacing(
          "note,\(Self.secret)\n", with: "note,other\n")
        expectSecrecy(format, known)
      }
    }
  }
}
