/// One word of a command line, as the bytes the kernel handed over.
///
/// Linux does not promise that arguments are UTF-8, and an account name or a file name need not be.
/// A word therefore stays bytes until somebody asks for text.
package struct Word: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The bytes of the word, without the closing NUL.
  package let bytes: [UInt8]

  /// A word of the given bytes.
  package init(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// A word of the UTF-8 bytes of a text.
  package init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// A word written in source code.
  package init(stringLiteral text: String) {
    self.init(text)
  }

  /// The text of the word, or nil when its bytes are not UTF-8.
  package var text: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// The word with U+FFFD in place of what is not UTF-8: for messages and comparisons, never for values.
  package var approximateText: String {
    String(decoding: bytes, as: UTF8.self)
  }
}
