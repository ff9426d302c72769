internal import Secrets

/// Text in memory that is wiped: what is known of its bytes, and how it is written.
package enum SecretText {
  /// Returns true if bytes are valid UTF-8, without making a copy of them.
  package static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var parser = UTF8.ForwardParser()
    var rest = unsafe bytes.makeIterator()
    while true {
      switch unsafe parser.parseScalar(from: &rest) {
      case .valid: continue
      case .error: return false
      case .emptyInput: return true
      }
    }
  }
}

extension SecretBytes {
  /// A Boolean value that indicates whether the bytes are valid UTF-8.
  package var isUTF8: Bool { unsafe withBytes { unsafe SecretText.isUTF8($0) } }

  /// Adds text at the end that is no secret by itself.
  package mutating func append(_ text: String) {
    for byte in text.utf8 { append(byte) }
  }

  /// Adds a JSON string (RFC 8259, section 7) with its quotes, escaped as the canonical writer of the store does.
  ///
  /// - Parameter text: Valid UTF-8; see `isUTF8`.
  package mutating func append(jsonString text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    for index in text.indices { append(jsonEscaped: unsafe text[index]) }
    append(UInt8(ascii: "\""))
  }

  private mutating func append(jsonEscaped byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08: append("\\b")
    case 0x0C: append("\\f")
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    case 0..<0x20:
      append("\\u00")
      append(Self.digit(byte >> 4))
      append(Self.digit(byte & 15))
    default: append(byte)
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
