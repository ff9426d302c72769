package import Secrets

/// A parser that splits a line of `security -i` into words, as on macOS.
///
/// White space separates words. A word that begins with `"` or `'` extends to the next such character. A backslash
/// escapes the next byte, also within quotes. A quote in the middle of a word is an ordinary character. The end of the
/// line closes an open quote.
package enum SecurityLine {
  /// Returns the words of a line.
  ///
  /// - Parameter line: The line without its line feed.
  package static func words(of line: borrowing SecretBytes) -> [SecretSlice] {
    var text = SecretBytes(capacity: line.count)
    var ranges: [Range<Int>] = []
    var start: Int?
    var quote: UInt8?
    var isEscaped = false
    func end(_ position: Int) {
      if let first = start { ranges.append(first..<position) }
      start = nil
      quote = nil
    }
    for index in 0..<line.count {
      let byte = unsafe line.withBytes { unsafe $0[index] }
      if isEscaped {
        text.append(byte)
        isEscaped = false
      } else if start == nil {
        if isSpace(byte) { continue }
        start = text.count
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
        case UInt8(ascii: "\\"): isEscaped = true
        default: text.append(byte)
        }
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if let open = quote {
        if byte == open { end(text.count) } else { text.append(byte) }
      } else if isSpace(byte) {
        end(text.count)
      } else {
        text.append(byte)
      }
    }
    end(text.count)
    let whole = SecretSlice(text)
    return ranges.map { whole.part($0) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
