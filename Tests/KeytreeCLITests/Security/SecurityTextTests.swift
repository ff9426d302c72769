import Secrets
import Testing
@testable import KeytreeCLI
@testable import Personalities

@Suite("What security prints of bytes", .serialized)
struct SecurityTextTests {
  private func plain(_ bytes: [UInt8]) -> String {
    let secret = SecretBytes(copying: bytes)
    let shown = SecurityText.plain(secret)
    return String(decoding: shown.revealed, as: UTF8.self)
  }

  private func quoted(_ bytes: [UInt8]) -> String {
    let secret = SecretBytes(copying: bytes)
    let shown = SecurityText.show(secret)
    return String(decoding: shown.revealed, as: UTF8.self)
  }

  private func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.utf8.count == 1 ? "0" + digits : digits
  }

  @Test("-w prints a password as text, or in hexadecimal if one byte is not isprint")
  func plainForm() {
    #expect(plain([]) == "")
    for byte in UInt8.min...UInt8.max {
      let isPrintable = byte >= 0x20 && byte < 0x7F
      let expected = isPrintable ? "a" + String(Unicode.Scalar(byte)) + "z" : "61\(hex(byte))7a"
      #expect(plain([0x61, byte, 0x7A]) == expected, "byte \(byte)")
    }
  }

  @Test("-g quotes bytes, and prints hexadecimal and octal digits for those that are not printable")
  func quotedForm() {
    #expect(quoted([]) == "")
    for byte in UInt8.min...UInt8.max {
      let isShown = byte >= 0x20 && byte < 0x7F && byte != 0x5C
      let octal = String(byte, radix: 8)
      let digits = String(repeating: "0", count: 3 - octal.utf8.count) + octal
      let alone = isShown ? "\"" + String(Unicode.Scalar(byte)) + "\"" : "0x\(hex(byte).uppercased()) "
      let within =
        isShown
        ? "\"a" + String(Unicode.Scalar(byte)) + "\"" : "0x61\(hex(byte).uppercased())  \"a\\\(digits)\""
      #expect(quoted([byte]) == alone, "byte \(byte)")
      #expect(quoted([0x61, byte]) == within, "byte \(byte)")
      #expect(SecurityText.show([0x61, byte]) == within, "byte \(byte)")
    }
  }

  @Test(
    "hexadecimal digits may have either case, and an odd number of them gets a leading zero",
    arguments: [
      ("", []), ("00ff", [0, 255]), ("DEADbeef", [0xDE, 0xAD, 0xBE, 0xEF]), ("f", [15]), ("123", [1, 0x23]),
      ("0x12", nil), ("1g", nil), (" 12", nil), ("é", nil),
    ] as [(String, [UInt8]?)])
  func hexadecimal(text: String, bytes: [UInt8]?) {
    let decoded = SecurityText.decode(hexadecimal: SecretSlice(SecretBytes(copying: text.utf8)))
    let revealed: [UInt8]?
    if let decoded { revealed = decoded.revealed } else { revealed = nil }
    #expect(revealed == bytes)
  }

  @Test(
    "a line of the interactive mode is split as by the original",
    arguments: [
      ("", []), (" \t ", []), ("a b", ["a", "b"]), ("  a   b ", ["a", "b"]), ("'a b' c", ["a b", "c"]),
      ("\"a 'b'\" c", ["a 'b'", "c"]), ("a\\ b", ["a b"]), ("\"a\\\"b\"", ["a\"b"]), ("'a\\'b'", ["a'b"]),
      ("a\\\\b", ["a\\b"]), ("''", [""]), ("a '' b", ["a", "", "b"]), ("x'y z'", ["x'y", "z'"]),
      ("'a'b", ["a", "b"]), ("'open end", ["open end"]), ("a\\", ["a"]), ("\\'a b", ["'a", "b"]),
      ("pä\u{B}ß\r", ["pä", "ß"]),
    ])
  func lines(text: String, words: [String]) {
    let line = SecretBytes(copying: text.utf8)
    let split = SecurityLine.words(of: line).map { String(decoding: $0.publicBytes(), as: UTF8.self) }
    #expect(split == words)
  }
}
