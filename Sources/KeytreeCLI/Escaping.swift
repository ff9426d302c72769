/// Makes text from a store safe to show.
///
/// Attributes hold any text, and what a terminal is told to do with it is up to whoever wrote it. Two forms:
///
/// - **Terminal**: for people. Control characters (C0 with tab and line feed, DEL, C1), U+2028 and U+2029,
///   bidirectional controls, characters without width or shape, and bytes that are not UTF-8 are shown as
///   `\t`, `\n`, `\r`, `\xNN` or `\u{NNNN}`. A backslash stays one backslash: `DOMAIN\user` reads as it is,
///   and the form is not meant to be read back.
/// - **Pipe**: for programs. Control characters, U+2028, U+2029, bytes that are not UTF-8 and the backslash
///   itself (as `\\`) are escaped in the same way; all else is as stored. One item is one line, one tab is
///   one column, and the form can be reversed without loss.
///
/// `\xNN` below 80 is that character; from 80 on it is a byte that was not part of valid UTF-8. Characters
/// are written as `\u{NNNN}`.
package enum Escaping: Sendable {
  case terminal
  case pipe

  /// The shown form of text.
  package func show(_ text: String) -> String {
    var text = text
    let hasNothingToEscape = text.withUTF8 { unsafe isPlain($0) }
    return hasNothingToEscape ? text : show(Array(text.utf8))
  }

  /// The shown form of bytes that may not be UTF-8.
  package func show(_ bytes: [UInt8]) -> String {
    let hasNothingToEscape = unsafe bytes.withUnsafeBufferPointer { unsafe isPlain($0) }
    if hasNothingToEscape { return String(decoding: bytes, as: UTF8.self) }
    var shown = ""
    var decoder = UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    // The parser consumes what an invalid sequence took from the iterator, so positions are counted here.
    var position = 0
    while true {
      switch decoder.parseScalar(from: &rest) {
      case .valid(let encoded):
        position += encoded.count
        show(UTF8.decode(encoded), to: &shown)
      case .error(let length):
        for byte in bytes[position..<(position + length)] { shown += Self.hex(byte) }
        position += length
      case .emptyInput:
        return shown
      }
    }
  }

  /// True for printable ASCII, which needs no second look; a backslash only on a terminal.
  private func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    for index in 0..<bytes.count {
      let byte = unsafe bytes[index]
      if byte < 0x20 || byte > 0x7E || (byte == UInt8(ascii: "\\") && self == .pipe) { return false }
    }
    return true
  }

  private func show(_ scalar: Unicode.Scalar, to shown: inout String) {
    switch scalar.value {
    case 0x09: shown += "\\t"
    case 0x0A: shown += "\\n"
    case 0x0D: shown += "\\r"
    case 0x5C where self == .pipe: shown += "\\\\"
    case 0x00..<0x20, 0x7F: shown += Self.hex(UInt8(scalar.value))
    case 0x20..<0x7F: shown.unicodeScalars.append(scalar)
    case 0x80...0x9F, 0x2028, 0x2029: shown += Self.hex(scalar)
    case let value where self == .terminal && Self.isDeceptive(value): shown += Self.hex(scalar)
    default: shown.unicodeScalars.append(scalar)
    }
  }

  /// True for characters that change how others are shown, or that cannot be seen: bidirectional controls,
  /// zero width and format characters, fillers, tags, and noncharacters (Unicode Standard, 23.2 to 23.9).
  private static func isDeceptive(_ value: UInt32) -> Bool {
    switch value {
    case 0x00AD, 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F: true
    case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0: true
    case 0xFFF0...0xFFFB, 0xE0000...0xE0FFF, 0x1D173...0x1D17A, 0x1BCA0...0x1BCA3: true
    default: value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value)
    }
  }

  private static func hex(_ byte: UInt8) -> String {
    "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u{" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "}"
  }
}
