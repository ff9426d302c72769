import KeytreeCLI
import Terminal
import Testing

@Suite("Escaping", .serialized)
struct EscapingTests {
  @Test(
    "text is escaped for a terminal and for a pipe",
    arguments: [
      ("plain text", "plain text", "plain text"),
      ("größe 日本", "größe 日本", "größe 日本"),
      (#"DOMAIN\user"#, #"DOMAIN\user"#, #"DOMAIN\\user"#),
      ("a\tb\nc\r", #"a\tb\nc\r"#, #"a\tb\nc\r"#),
      ("\u{0}\u{1B}[2J\u{7F}", #"\x00\x1b[2J\x7f"#, #"\x00\x1b[2J\x7f"#),
      ("\u{9B}31m", #"\u{009b}31m"#, #"\u{009b}31m"#),
      ("\u{2028}\u{2029}\u{85}", #"\u{2028}\u{2029}\u{0085}"#, #"\u{2028}\u{2029}\u{0085}"#),
      ("a\u{202E}b\u{2066}c", #"a\u{202e}b\u{2066}c"#, #"a\u{202e}b\u{2066}c"#),
      ("\u{200E}\u{200F}\u{61C}", #"\u{200e}\u{200f}\u{061c}"#, #"\u{200e}\u{200f}\u{061c}"#),
      (
        "\u{200B}\u{200D}\u{2060}\u{FEFF}", #"\u{200b}\u{200d}\u{2060}\u{feff}"#,
        #"\u{200b}\u{200d}\u{2060}\u{feff}"#
      ),
      ("\u{E0041}", #"\u{e0041}"#, #"\u{e0041}"#),
      ("e\u{301}", "e\u{301}", "e\u{301}"),
      ("", "", ""),
    ])
  func text(text: String, terminal: String, pipe: String) {
    #expect(Array(Escaping.terminal.show(text).unicodeScalars) == Array(terminal.unicodeScalars))
    #expect(Array(Escaping.pipe.show(text).unicodeScalars) == Array(pipe.unicodeScalars))
  }

  @Test(
    "bytes that are not UTF-8 are escaped one by one",
    arguments: [
      ([0xFF], #"\xff"#), ([0x61, 0xC3], #"a\xc3"#), ([0xC3, 0xA9, 0x80], #"é\x80"#),
      ([0xED, 0xA0, 0x80], #"\xed\xa0\x80"#), ([0xC0, 0xAF], #"\xc0\xaf"#),
      ([0xF0, 0x9F, 0x98, 0x61], #"\xf0\x9f\x98a"#), ([0xF5, 0x80], #"\xf5\x80"#),
    ] as [([UInt8], String)])
  func bytes(bytes: [UInt8], shown: String) {
    #expect(Escaping.terminal.show(bytes) == shown)
    #expect(Escaping.pipe.show(bytes) == shown)
  }

  @Test("escaped text contains no control character", arguments: [Escaping.terminal, .pipe])
  func controls(escaping: Escaping) {
    for value in UInt32(0)...0x3000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for shown in escaping.show(String(scalar)).unicodeScalars {
        #expect(shown.value >= 0x20 && !(0x7F...0x9F).contains(shown.value))
      }
    }
  }

  @Test("escaping for a pipe is injective: different bytes have different escaped forms")
  func injective() {
    var seen: [String: [UInt8]] = [:]
    let pieces: [[UInt8]] = [[0x5C], [0x78], [0x66], [0xFF], [0x0A], [0x6E], [0xC2, 0x85], [0x85], [0x7B]]
    for first in pieces {
      for second in pieces {
        for third in pieces {
          let bytes = first + second + third
          let shown = Escaping.pipe.show(bytes)
          #expect(seen[shown] == nil || seen[shown] == bytes, "\(shown)")
          seen[shown] = bytes
        }
      }
    }
  }
}
