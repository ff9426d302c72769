internal import Secrets

/// Splits a line of `security -i` into words, as that command does.
///
/// Spaces divide words. A word that begins with `"` or `'` goes to the next of the same; a backslash takes the next
/// byte as it is, in quotes as well. A quote in the middle of a word is itself. What is left open ends with the line.
enum SecurityLine {
  /// The words of a line.
  static func words(of line: borrowing SecretBytes) -> [SecretSlice] {
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
