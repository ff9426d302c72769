internal import Secrets

/// Checks and writes text in memory that is wiped.
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
  /// True if the bytes are valid UTF-8.
  package var isUTF8: Bool { unsafe withBytes { unsafe SecretText.isUTF8($0) } }

  /// Adds text that is not secret at the end.
  package mutating func append(_ text: String) {
    for byte in text.utf8 { append(byte) }
  }

}
