/// Text in which `%` and two hexadecimal digits replace bytes that would be read as syntax.
package enum PercentEscapes {
  /// Escapes `%` and everything except printable ASCII.
  ///
  /// - Parameter text: Any text.
  /// - Returns: Printable ASCII without spaces.
  package static func encode(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        escaped += "%" + Hexadecimal.text(byte, digits: 2, uppercase: true)
      }
    }
    return escaped
  }

  /// Replaces every escape.
  ///
  /// - Parameter text: Escaped text, as bytes.
  /// - Returns: The bytes; nil if a `%` is not followed by two digits.
  package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(Hexadecimal.value(ofDigitInAnyCase:)),
        let low = rest.next().flatMap(Hexadecimal.value(ofDigitInAnyCase:))
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
