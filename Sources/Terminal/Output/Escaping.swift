internal import Encoding
internal import Secrets

/// The escaping of external text for output.
///
/// In both forms, unsafe characters (`Unicode.Scalar.isUnsafeInOutput`) and bytes that are not UTF-8 are written as
/// `\t`, `\n`, `\r`, `\xNN` or `\u{NNNN}`, because the content of a pipe is often displayed later: by a pager, a log or
/// a web page of a build server.
///
/// - **Terminal**: for people. A backslash is not escaped, so `DOMAIN\user` is shown unchanged. The form cannot always
///   be reversed. Escaping twice is the same as escaping once.
/// - **Pipe**: for programs. The backslash is escaped as well, as `\\`. One item is one line, one tab is one column,
///   and the form can be reversed without loss.
///
/// `\xNN` below 80 is that character; from 80 on it is a byte that was not part of valid UTF-8. Characters from U+0080
/// on are written as `\u{NNNN}`.
package enum Escaping: Sendable {
  case terminal
  case pipe

  /// Returns the escaped form of text.
  package func show(_ text: String) -> String {
    var text = text
    let hasNothingToEscape = text.withUTF8 { unsafe isPlain($0) }
    return hasNothingToEscape ? text : show(Array(text.utf8))
  }

  /// Returns the escaped form of bytes that may not be UTF-8.
  package func show(_ bytes: [UInt8]) -> String {
    let hasNothingToEscape = unsafe bytes.withUnsafeBufferPointer { unsafe isPlain($0) }
    if hasNothingToEscape { return String(decoding: bytes, as: UTF8.self) }
    var shown = ""
    var decoder = UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    // The parser consumes the bytes of an invalid sequence from the iterator, so positions are counted here.
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

  /// Returns true for printable ASCII, whose escaped form is equal to it.
  package func isPlain(_ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBufferPointer { unsafe isPlain($0) }
  }

  /// Returns true if the escaped form of some bytes has no escapes. In the pipe form it is then equal to the bytes.
  package func isUnchanged(_ bytes: [UInt8]) -> Bool {
    isPlain(bytes) || !show(bytes).utf8.contains(UInt8(ascii: "\\"))
  }

  /// Returns the escaped form of text between quotation marks.
  package func quote(_ text: String) -> String { "\"" + show(text) + "\"" }

  /// Returns true for printable ASCII, which needs no escaping. A backslash counts only in the terminal form.
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
    default:
      if scalar.isUnsafeInOutput { shown += Self.hex(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
  }

  private static func hex(_ byte: UInt8) -> String { "\\x" + Hexadecimal.text(byte, digits: 2) }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    "\\u{" + Hexadecimal.text(scalar.value, digits: 4) + "}"
  }
}
