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

  /// Returns true if the text is empty or begins like a JSON document: an object or an array, and a first member or
  /// element in it.
  ///
  /// `[section]` and `{{name}}` do not. A single value is valid JSON, but no program exports one.
  static func mayBeJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let mark = unsafe bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    var words = unsafe bytes[mark...].lazy.filter { $0 > 0x20 }.makeIterator()
    guard let first = unsafe words.next() else { return true }
    guard let second = unsafe words.next() else { return "{[".utf8.contains(first) }
    switch first {
    case UInt8(ascii: "{"): return "\"}".utf8.contains(second)
    case UInt8(ascii: "["): return "{[]\"-0123456789tfn".utf8.contains(second)
    default: return false
    }
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
