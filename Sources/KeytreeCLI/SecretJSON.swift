internal import KeyringModel
internal import Secrets

/// A JSON object with a secret in it, in memory that is wiped.
enum SecretJSON {
  /// An object with a member `secret` between others, without a line feed.
  ///
  /// - Parameters:
  ///   - before: the members before it, as JSON with commas between them.
  ///   - secret: the value: a string when it is valid UTF-8, else `{"base64":"..."}`.
  ///   - after: the members after it.
  static func object(
    before: ArraySlice<UInt8>, secret: borrowing SecretBytes, after: ArraySlice<UInt8>
  ) -> SecretBytes {
    var line = SecretBytes(capacity: secret.count * 2 + before.count + after.count + 64)
    append("{", to: &line)
    for byte in before { line.append(byte) }
    append(before.isEmpty ? "\"secret\":" : ",\"secret\":", to: &line)
    appendValue(secret, to: &line)
    append(after.isEmpty ? "" : ",", to: &line)
    for byte in after { line.append(byte) }
    append("}", to: &line)
    return line
  }

  private static func append(_ text: String, to line: inout SecretBytes) {
    for byte in text.utf8 { line.append(byte) }
  }

  private static func appendValue(_ secret: borrowing SecretBytes, to line: inout SecretBytes) {
    let isText = unsafe secret.withBytes { bytes in unsafe isUTF8(bytes) }
    if isText {
      append("\"", to: &line)
      unsafe secret.withBytes { bytes in
        for index in bytes.indices { appendEscaped(unsafe bytes[index], to: &line) }
      }
      append("\"", to: &line)
    } else {
      append("{\"base64\":\"", to: &line)
      unsafe secret.withBytes { bytes in
        unsafe Base64.encode(bytes, as: .standard) { line.append($0) }
      }
      append("\"}", to: &line)
    }
  }

  /// Whether bytes are valid UTF-8, decided without a copy of them.
  private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
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

  /// Adds one byte of a string as the canonical writer escapes it.
  private static func appendEscaped(_ byte: UInt8, to line: inout SecretBytes) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"", to: &line)
    case UInt8(ascii: "\\"): append("\\\\", to: &line)
    case 0x08: append("\\b", to: &line)
    case 0x0C: append("\\f", to: &line)
    case 0x0A: append("\\n", to: &line)
    case 0x0D: append("\\r", to: &line)
    case 0x09: append("\\t", to: &line)
    case 0..<0x20:
      append("\\u00", to: &line)
      line.append(digit(byte >> 4))
      line.append(digit(byte & 15))
    default: line.append(byte)
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
