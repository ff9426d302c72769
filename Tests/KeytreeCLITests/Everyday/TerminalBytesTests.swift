import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import Testing

/// No attribute controls the terminal (threat T26).
@Suite("On a terminal", .serialized)
struct TerminalBytesTests {
  /// Sequences that terminals interpret: clear, title, clipboard, hyperlink, 8-bit controls, overwriting, reversal.
  static let evil: [[UInt8]] = [
    Array("\u{1B}[2J".utf8), Array("\u{1B}]0;title\u{7}".utf8), Array("\u{1B}]52;c;eA==\u{1B}\\".utf8),
    Array("\u{1B}]8;;https://evil.example\u{1B}\\text".utf8), Array("\u{9B}2J\u{9D}0;x\u{9C}".utf8),
    [0x9B, 0x32, 0x4A], Array("a\rb\u{8}c\u{7F}".utf8), [0x61, 0, 0x62], Array("line\nfeed\ttab".utf8),
    Array("\u{202E}reversed\u{2066}\u{200B}\u{FEFF}".utf8), [0xC3, 0x28, 0xFF],
  ]

  /// Every text attribute of an internet password, and custom ones; the port makes the items distinct.
  static let names: [AttributeName] =
    AttributeSchema.names(of: .internetPassword)
    .filter { AttributeSchema.kind(of: $0) != .boolean && ![.port, .field].contains($0) } + [
      "custom name", "t\u{E4}gs",
    ]

  @Test("no attribute makes any command print a control character")
  func attributes() throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(Self.names.count > 15)
    for value in Self.evil {
      try useEverywhere(value, in: world)
    }
  }

  private func useEverywhere(_ value: [UInt8], in world: CommandFixture) throws {
    func word(_ before: String = "", _ after: String = "") -> Word {
      Word(Array(before.utf8) + value + Array(after.utf8))
    }
    func run(_ code: ExitCode, _ words: [Word], input: String = "s\ns\n") {
      let result = world.run(
        words, input: Array(input.utf8), isTerminal: true, more: ["NO_COLOR": "1"])
      let line = words.map(\.approximateText).joined(separator: " ")
      #expect(result.code == code, "\(line): \(result.diagnosticsText)")
      Self.expectHarmless(result.output, line)
      Self.expectHarmless(result.talk, line)
    }
    let isText = String(validating: value, as: UTF8.self) != nil
    // A number may be stored as text, but not as bytes.
    let names = Self.names.filter { isText || AttributeSchema.kind(of: $0) != .integer }
    let attributes = names.flatMap { name -> [Word] in ["--attribute", word(name.text + "=")] }
    run(.done, ["add"] + attributes)
    run(.done, ["add", "--port", "1", "--json"] + attributes)
    run(.alreadyExists, ["add"] + attributes)

    run(.done, ["find", "--explain"])
    run(.done, ["find", word(), "--sort", "label"])
    run(.done, ["find", "-i", "-l", word(), "--json"])
    run(.notFound, ["find", word("no ", " match")])

    let first: [Word] = ["-a", word(), "--attribute", "port=0"]
    run(.ambiguous, ["get", "--no-input", "-a", word()])
    // The list from which the user could choose.
    run(.cancelled, ["get", "-a", word()])
    run(.notFound, ["get", "--server", word("no ", " match")])
    run(.done, ["get", "--attributes"] + first)
    run(.done, ["get", "--json", "--reveal", "--explain"] + first)
    // The system ends a path at its first NUL, so a path that contains one may name another file.
    if !value.contains(0) {
      run(isText ? .notFound : .usage, ["get", "--out", word("/nonexistent/")] + first)
    }
    run(.usage, ["get", word("--")])
    run(.usage, [word()])
    if !value.contains(0) {
      run(isText ? .notFound : .usage, ["--store", word("/nonexistent/"), "find"])
    }

    let name: Word = "plain.example/x"
    run(.done, ["add", name])
    run(.done, ["set", name, "-l", word(), "-j", word(), "--json"])
    run(.done, ["cp", name, "copy.example", "-d", word()])
    run(.done, ["mv", name, "plain.example/y", "-d", word(), "--json"])
    run(.notFound, ["mv", word("no", "match"), "x"])
    // The store has no history, so `rm` asks.
    run(.done, ["rm", "copy.example", "plain.example"], input: "y\n")
    run(.done, ["rm", "-P", "1", "-a", word(), "--json"], input: "y\n")
    run(.done, ["rm", "-a", word()], input: "y\n")
  }

  private static func expectHarmless(_ bytes: [UInt8], _ line: String) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      Issue.record("\(line) prints bytes that are not UTF-8")
      return
    }
    let deceptive: Set<UInt32> = [0x7F, 0x200B, 0x202E, 0x2066, 0xFEFF]
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 && scalar != "\n" && scalar != "\t"
      let isHarmful = isControl || (0x80..<0xA0).contains(scalar.value) || deceptive.contains(scalar.value)
      if isHarmful { Issue.record("\(line) prints U+\(String(scalar.value, radix: 16)): \(text)") }
    }
  }
}
