internal import Encoding
internal import Secrets

/// Conversions of text for the clipboard programs of Windows.
enum WindowsText {
  /// Returns text for clip.exe, which accepts bytes in the code page of the console, or UTF-16 with a byte order mark.
  ///
  /// - Returns: ASCII unchanged, other text as UTF-16; nil if the secret is not UTF-8.
  static func encoded(_ secret: borrowing SecretBytes) -> SecretBytes? {
    guard secret.isUTF8 else { return nil }
    let isASCII = unsafe secret.withBytes { unsafe $0.allSatisfy { $0 < 0x80 } }
    if isASCII { return secret.copy() }
    var text = SecretBytes(capacity: secret.count * 2 + 2)
    append(0xFEFF, to: &text)
    unsafe secret.withBytes { bytes in
      var (decoder, rest) = (UTF8(), unsafe bytes.makeIterator())
      while case .scalarValue(let scalar) = unsafe decoder.decode(&rest) {
        for unit in UTF16.encode(scalar).map({ Array($0) }) ?? [] { append(unit, to: &text) }
      }
    }
    return text
  }

  private static func append(_ unit: UInt16, to text: inout SecretBytes) {
    text.append(UInt8(truncatingIfNeeded: unit))
    text.append(UInt8(truncatingIfNeeded: unit >> 8))
  }

  /// Returns text from PowerShell without the UTF-8 byte order mark that it may begin with.
  static func withoutMark(_ text: borrowing SecretBytes) -> SecretBytes {
    let hasMark = unsafe text.withBytes { unsafe $0.starts(with: [0xEF, 0xBB, 0xBF]) }
    return hasMark ? text.copy(3..<text.count) : text.copy()
  }
}
