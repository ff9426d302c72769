package import Secrets

extension Unicode.Scalar {
  /// True if the character must be escaped in every output.
  ///
  /// These are the characters that terminals act on, that change how others are displayed, or that cannot be seen:
  /// control characters (C0, DEL, C1), line and paragraph separators, bidirectional controls, zero width and other
  /// format characters, fillers, tags, and noncharacters (Unicode Standard, 23.1 to 23.9).
  package var isUnsafeInOutput: Bool {
    switch value {
    case 0x0000...0x001F, 0x007F...0x009F: true
    case 0x00AD, 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F: true
    case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0: true
    case 0xFFF0...0xFFFB, 0xE0000...0xE0FFF, 0x1D173...0x1D17A, 0x1BCA0...0x1BCA3: true
    default: value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value)
    }
  }
}

extension SecretText {
  /// Writes JSON in the form for output: unsafe characters from U+007F on become `\uXXXX`.
  ///
  /// Such a character can only be part of a string, so the result is JSON with the same value. Characters below U+0020
  /// are left unchanged: within a string they are already escaped, and between values they are white space.
  ///
  /// - Parameters:
  ///   - json: JSON in UTF-8. Invalid sequences become U+FFFD.
  ///   - put: Receives the bytes of the result, one by one.
  package static func escape(json: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
    var parser = UTF8.ForwardParser()
    var rest = unsafe json.makeIterator()
    while true {
      switch unsafe parser.parseScalar(from: &rest) {
      case .valid(let encoded):
        let scalar = UTF8.decode(encoded)
        if scalar.value >= 0x7F, scalar.isUnsafeInOutput {
          for unit in String(scalar).utf16 { putEscape(of: unit, put) }
        } else {
          for byte in encoded { put(byte) }
        }
      case .error: putEscape(of: 0xFFFD, put)
      case .emptyInput: return
      }
    }
  }

  private static func putEscape(of unit: UInt16, _ put: (UInt8) -> Void) {
    for byte in ("\\u" + Hexadecimal.text(unit, digits: 4)).utf8 { put(byte) }
  }
}

extension SecretBytes {
  /// The same JSON in the form for output, in memory that is wiped; see ``SecretText/escape(json:_:)``.
  package var escapedJSON: SecretBytes {
    var escaped = SecretBytes(capacity: count)
    unsafe withBytes { unsafe SecretText.escape(json: $0) { escaped.append($0) } }
    return escaped
  }
}
