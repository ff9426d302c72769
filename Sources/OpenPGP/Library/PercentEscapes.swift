/// Text in which `%` and two hexadecimal digits replace bytes that would be read as syntax.
enum PercentEscapes {
  /// Escapes `%` and everything except printable ASCII.
  ///
  /// - Parameter text: Any text.
  /// - Returns: Printable ASCII without spaces.
  static func encode(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        escaped += "%" + Hex.text(of: UInt64(byte), uppercase: true).suffix(2)
      }
    }
    return escaped
  }

  /// Replaces every escape.
  ///
  /// - Parameter text: Escaped text, as bytes.
  /// - Returns: The text; nil if a `%` is not followed by two digits.
  static func decode(_ text: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Hex.value(of:)),
        let low = rest.popFirst().flatMap(Hex.value(of:))
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
