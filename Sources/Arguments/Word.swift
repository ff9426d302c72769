/// One word of a command line, as the bytes that the kernel passed.
///
/// Linux does not promise that arguments are UTF-8, and an account name or a file name need not be. A word is therefore
/// kept as bytes and converted to text only on request.
package struct Word: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The bytes of the word, without the terminating NUL.
  package let bytes: [UInt8]

  /// Creates a word from bytes.
  package init(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Creates a word from the UTF-8 bytes of a text.
  package init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Creates a word from a string literal.
  package init(stringLiteral text: String) {
    self.init(text)
  }

  /// The text of the word, or nil if its bytes are not UTF-8.
  package var text: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// The word with invalid UTF-8 replaced by U+FFFD. Only for messages and comparisons, never for values.
  package var approximateText: String {
    String(decoding: bytes, as: UTF8.self)
  }
}
