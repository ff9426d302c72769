internal import Encoding
internal import Secrets

/// Checks of a text file before it is parsed.
enum SourceText {
  /// Returns true if the text begins like UTF-16: with a byte order mark, or with a NUL among the first two bytes.
  static func isUTF16(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 2 else { return false }
    let pair = unsafe (bytes[0], bytes[1])
    return pair == (0xFF, 0xFE) || pair == (0xFE, 0xFF) || pair.0 == 0 || pair.1 == 0
  }

  /// Checks that a file is text in UTF-8 without a NUL.
  ///
  /// - Throws: `empty`, `notUTF8`.
  static func check(_ bytes: borrowing SecretBytes) throws(SourceError) {
    guard !bytes.isEmpty else { throw .empty }
    let hasNUL = unsafe bytes.withBytes { unsafe $0.contains(0) }
    guard !hasNUL, bytes.isUTF8 else { throw .notUTF8 }
  }
}
