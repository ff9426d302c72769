import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// A secret is released exactly as it was stored, byte for byte, through every input and output.
@Suite("Secrets", .serialized)
struct ExactSecretTests {
  static let limit = 1 << 20

  @Test("a secret is stored and returned byte for byte")
  func exact() throws {
    let world = try CommandFixture.withoutGnuPG()
    let secrets: [[UInt8]] = [
      [0], [10], Array("a\r\n".utf8), Array(0...255), Array("x\u{FEFF}é".utf8), [0xC3],
      Array("{}\n{}\n".utf8),
      (0..<Self.limit).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) },
    ]
    for (number, secret) in secrets.enumerated() {
      let name = Word("exact.example/\(number)")
      let added = world.run("add", name, input: secret)
      #expect(added.code == .done, "\(number): \(added.diagnosticsText)")
      #expect(world.run("get", name).output == secret, "\(number)")
      // On a terminal exactly one line feed is added.
      #expect(
        world.run("get", name, input: Array("y\n".utf8), isTerminal: true).output == secret + [10],
        "\(number)")
      let path = world.folder.path + "/out-\(number)"
      #expect(world.run("get", name, "--out", Word(path)).output.isEmpty)
      #expect(FileManager.default.contents(atPath: path).map(Array.init) == secret, "\(number)")
      let json = world.run("get", name, "--json", "--reveal").output
      #expect(json.count { $0 == 10 } == 1 && json.last == 10, "one object is one line")
      #expect(try Self.secret(inJSON: json) == secret, "\(number)")
    }
  }

  @Test("a secret in JSON is text if it is UTF-8, and Base64 otherwise")
  func forms() throws {
    let world = try CommandFixture.withoutGnuPG()
    for (secret, form) in [
      (Array("a\"\\\u{1}é".utf8), #""secret":"a\"\\\u0001é""#), ([0xFF], #""secret":{"base64":"/w=="}"#),
      ([0xED, 0xA0, 0x80], #""secret":{"base64":"7aCA"}"#),
      ([0xC0, 0x80, 1], #""secret":{"base64":"wIAB"}"#),
    ] {
      #expect(world.run("add", "form.example", "--update", input: secret).code == .done)
      #expect(world.run("get", "form.example", "--json", "--reveal").text.contains(form))
    }
  }

  @Test("a secret of more than 1 MiB is refused, and nothing changes")
  func tooLarge() throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("add", "small.example", input: [1]).code == .done)
    let before = StoreDigest(of: world.store)
    let large = [UInt8](repeating: 0x61, count: Self.limit + 1)
    for words: [Word] in [
      ["add", "large.example"], ["add", "small.example", "--update"], ["set", "small.example", "--secret"],
    ] {
      let result = world.run(words, input: large)
      #expect(result.code == .failure)
      #expect(
        result.diagnosticsText.hasPrefix(
          "keytree: cannot store the secret: it is longer than 1048576 bytes\nhint: "))
    }
    #expect(StoreDigest(of: world.store) == before)
  }

  @Test("attributes of 16 KiB are refused, and nothing changes")
  func attributesTooLarge() throws {
    let world = try CommandFixture.withoutGnuPG()
    let before = StoreDigest(of: world.store)
    var words: [Word] = ["add", "large.example"]
    for number in 0..<5 {
      words += ["--attribute", Word("a\(number)=" + String(repeating: "x", count: 4000))]
    }
    #expect(world.run(words, input: [1]).code == .usage)
    #expect(world.run("add", "x.example", "-l", Word(String(repeating: "x", count: 4097))).code == .usage)
    #expect(StoreDigest(of: world.store) == before)
  }

  private static func secret(inJSON bytes: [UInt8]) throws -> [UInt8]? {
    let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    if let text = object?["secret"] as? String { return Array(text.utf8) }
    let base64 = (object?["secret"] as? [String: String])?["base64"]
    return base64.flatMap { Data(base64Encoded: $0) }.map(Array.init)
  }
}
