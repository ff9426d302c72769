import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import Personalities
import TestSupport
import Testing

/// Characters that terminals interpret, that reorder text, or that are invisible (threats T26 and T47).
@Suite("Unsafe characters", .serialized, .slow)
struct UnsafeCharacterTests {
  /// All characters that no output may contain, except NUL, which no argument can contain.
  static let scalars: [Unicode.Scalar] =
    ([
      0x01...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x61C...0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069,
      0xFEFF...0xFEFF, 0xE0000...0xE007F,
    ] as [ClosedRange<UInt32>]).flatMap { $0.compactMap(Unicode.Scalar.init) }

  /// Texts that together contain all of them. One text would exceed the limit for names of items.
  static let texts: [String] = stride(from: 0, to: scalars.count, by: 40).map { start in
    "a" + scalars[start..<min(start + 40, scalars.count)].map { "\($0)b" }.joined()
  }

  private static let unsafe = Set(scalars)

  /// Commands that print something about every item, or about the store.
  private static let overviews: [[Word]] =
    ["find", "status", "check", "verify", "doctor", "resolve", "trust"].flatMap { [[$0], [$0, "--json"]] }
    + [
      ["rotate", "status"], ["rotate", "status", "--json"], ["group", "list"], ["group", "list", "--json"],
    ]

  /// Reports every unsafe character of an output, once.
  private static func expectEscaped(_ bytes: [UInt8], _ output: String, _ place: SourceLocation) {
    let isText = String(validating: bytes, as: UTF8.self) != nil
    #expect(isText, "\(output) is not UTF-8", sourceLocation: place)
    let raw = Set(String(decoding: bytes, as: UTF8.self).unicodeScalars).intersection(unsafe)
      .subtracting(["\n", "\t"])
    let names = raw.map { String($0.value, radix: 16) }.sorted()
    #expect(names == [], "\(output) contains them raw", sourceLocation: place)
  }

  private let world: CommandFixture

  init() throws { world = try CommandFixture() }

  /// Runs a command with pipes and on a terminal, and checks its output.
  @discardableResult
  private func expectEscaped(
    _ code: ExitCode?, _ words: [Word], at place: SourceLocation = #_sourceLocation
  ) -> CommandFixture.Result {
    let line = words.map(\.approximateText).joined(separator: " ").prefix(60)
    let isChange = ["add", "set", "mv", "cp", "rm", "import"].contains(words[0].text)
    let results = (isChange ? [false] : [true, false]).map { isTerminal in
      let result = world.run(
        words, input: Array("s\ns\n".utf8), isTerminal: isTerminal, more: ["NO_COLOR": "1"])
      let isExpected = code.map { $0 == result.code } ?? (result.code != .done)
      #expect(isExpected, "\(line): \(result.code), \(result.diagnosticsText)", sourceLocation: place)
      Self.expectEscaped(result.output, "`\(line)`, terminal \(isTerminal)", place)
      Self.expectEscaped(result.talk, "messages of `\(line)`, terminal \(isTerminal)", place)
      return result
    }
    return results[results.count - 1]
  }

  /// Runs a command that must fail, and checks its output in the same way.
  private func expectRefused(_ words: [Word], at place: SourceLocation = #_sourceLocation) {
    expectEscaped(nil, words, at: place)
  }

  /// Adds one item for each text, with the text in every attribute.
  private func addItems() {
    for (number, text) in Self.texts.enumerated() {
      let attributes = ["label", "comment", "kind", "custom name"].flatMap { name -> [Word] in
        ["--attribute", Word("\(name)=\(text)")]
      }
      #expect(
        world.run(
          ["add", Word("--service=s\(number)"), Word("--account=\(text)")] + attributes,
          input: Array("s".utf8)
        ).code == .done)
    }
  }

  private func name(_ number: Int) -> [Word] {
    [Word("generic:s\(number)/\(Self.texts[number])")]
  }

  @Test func `unsafe characters are escaped in all output about items`() throws {
    addItems()
    for words in Self.overviews { expectEscaped(.done, words) }
    for shard in try FileManager.default.contentsOfDirectory(atPath: world.store + "/index") {
      expectEscaped(.done, ["textconv", "index", Word("\(world.store)/index/\(shard)")])
    }
    for (number, text) in Self.texts.enumerated() {
      expectEscaped(.done, ["get", "--attributes"] + name(number))
      expectEscaped(.done, ["get", "--json", "--reveal"] + name(number))
      expectEscaped(.done, ["history"] + name(number))
      expectEscaped(.done, ["history", "--json"] + name(number))
      expectEscaped(.done, ["who"] + name(number))
      expectEscaped(.done, ["who", "--json"] + name(number))
      expectEscaped(.done, ["find", Word(text)])
      expectEscaped(.done, ["find", "--json", Word(text)])
      expectEscaped(
        .done, ["set", "--json", Word("--attribute"), Word("custom name=\(text)2")] + name(number))
      expectEscaped(.done, ["cp"] + name(number) + [Word("c\(number)")])
      expectEscaped(.done, ["mv", "--json", Word("c\(number)"), Word("d\(number)/\(text)")])
      expectEscaped(.done, ["rm", "--json", Word("d\(number)/\(text)")])
    }
  }

  @Test func `unsafe characters are escaped in every error that names an item, a path or an option`() throws {
    addItems()
    for (number, text) in Self.texts.enumerated() {
      // Two items have this label.
      #expect(world.run(["add", Word("t\(number)"), "-l", Word(text)], input: Array("s".utf8)).code == .done)
      expectRefused(["get", "--no-input", "-l", Word(text)])
      expectRefused(["get", "--no-input", Word(text)])
      expectRefused(["get", "--account", Word(text + "x")])
      expectRefused(["who", Word(text)])
      expectRefused(["history", Word(text)])
      expectRefused(["add"] + name(number))
      expectRefused(["get", "--out", Word("/nonexistent/\(text)")] + name(number))
      expectRefused(["--store", Word("/nonexistent/\(text)"), "find"])
      expectRefused(["import", "csv", Word("/nonexistent/\(text)")])
      expectRefused(["group", "add", Word(text), Word(text)])
      expectRefused([Word(text)])
      expectRefused(["get", Word("--\(text)")])
      expectRefused(["find", "--limit", Word(text)])
      expectRefused(["group", "show", Word(text)])
      expectRefused(["read", Word("keytree://internet-password/\(text)")])
    }
  }

  @Test func `unsafe characters are escaped in findings about files`() throws {
    for text in Self.texts {
      for folder in ["", "/items", "/index", "/keys"] {
        #expect(FileManager.default.createFile(atPath: "\(world.store)\(folder)/\(text)", contents: Data()))
      }
    }
    for words in [["check"], ["check", "--json"], ["verify"], ["verify", "--json"]] as [[Word]] {
      expectEscaped(.failedChecks, words)
    }
    for words in [["status"], ["status", "--json"]] as [[Word]] { expectEscaped(.done, words) }
  }

  @Test func `unsafe characters are escaped in the JSON answers to other programs`() throws {
    for text in Self.texts where !text.contains("\n") && !text.contains("\r") {
      let url = "https://registry\(text.utf8.count).example"
      let stored = world.run(
        as: .dockerCredential, ["store"],
        input: #"{"ServerURL":"\#(url)","Username":"\#(json(text))","Secret":"\#(json(text))"}"#)
      #expect(stored.status == 0, "\(stored.text)")
      let got = world.run(as: .dockerCredential, ["get"], input: url)
      let object = try JSONSerialization.jsonObject(with: Data(got.output)) as? [String: String]
      #expect(object?["Username"].map { Array($0.utf8) } == Array(text.utf8))
      #expect(object?["Secret"].map { Array($0.utf8) } == Array(text.utf8))
      Self.expectEscaped(got.output, "docker get", #_sourceLocation)
    }
    Self.expectEscaped(world.run(as: .dockerCredential, ["list"]).output, "docker list", #_sourceLocation)
  }

  /// Returns a text as the content of a JSON string.
  private func json(_ text: String) -> String {
    text.utf16.map { String(format: "\\u%04x", $0) }.joined()
  }

  @Test func `unsafe characters in --json parse to the stored value`() throws {
    addItems()
    for (number, text) in Self.texts.enumerated() {
      let line = world.run("find", "--json", Word("--service=s\(number)")).output
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
      let custom = try #require(object["custom"] as? [String: Any])
      for value in [object["account"], object["label"], object["comment"], custom["custom name"]] {
        #expect((value as? String).map { Array($0.utf8) } == Array(text.utf8))
      }
    }
  }

  @Test func `unsafe characters in a JSON export are escaped and imported unchanged`() throws {
    let secret = Self.texts.joined()
    addItems()
    let item: [Word] = ["--service=exact", "--account=a"]
    #expect(world.run(["add"] + item, input: Array(secret.utf8)).code == .done)
    for format: Word in ["keytree", "bitwarden"] {
      let path = world.folder.path + "/\(format.approximateText).json"
      #expect(
        world.run(["export", "json", Word(path), "--plaintext", "--accept-loss", "--format", format]).code
          == .done)
      let file = try #require(FileManager.default.contents(atPath: path))
      Self.expectEscaped(Array(file), "export json --format \(format.approximateText)", #_sourceLocation)
    }
    let second = try CommandFixture()
    #expect(second.run("import", "json", Word(world.folder.path + "/keytree.json")).code == .done)
    #expect(second.run(["get"] + item).output == Array(secret.utf8))
    for number in Self.texts.indices { #expect(second.run(["get"] + name(number)).text == "s") }
  }

  @Test(arguments: ["chrome", "bitwarden"])
  func `unsafe characters in a CSV export are kept byte for byte, because a CSV file has no escapes`(
    format: String
  ) throws {
    let secret = Self.texts.joined().filter { !$0.isNewline }
    #expect(world.run(["add", "h.example/alice"], input: Array(secret.utf8)).code == .done)
    let path = world.folder.path + "/out.csv"
    let result = expectEscaped(
      .done,
      ["export", "csv", Word(path), "--plaintext", "--accept-loss", "--format", Word(format), "--dry-run"])
    #expect(!result.output.isEmpty)
    #expect(
      world.run(["export", "csv", Word(path), "--plaintext", "--accept-loss", "--format", Word(format)]).code
        == .done)
    let second = try CommandFixture()
    #expect(second.run("import", "csv", Word(path)).code == .done)
    #expect(second.run("get", "h.example/alice").output == Array(secret.utf8))
  }
}
