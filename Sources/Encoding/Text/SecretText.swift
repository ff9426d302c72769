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
}
