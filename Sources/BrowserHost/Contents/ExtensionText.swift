/// The rules by which the extension trims text, which are those of JavaScript (ECMA-262, `String.prototype.trim`).
enum ExtensionText {
  /// The white space of JavaScript that is not ASCII, in UTF-8.
  private static let wideSpaces: [[UInt8]] =
    [
      [0xC2, 0xA0], [0xE1, 0x9A, 0x80], [0xE2, 0x80, 0xAF], [0xE2, 0x81, 0x9F], [0xE3, 0x80, 0x80],
      [0xEF, 0xBB, 0xBF],
    ]
    + separators + (0x80...0x8A).map { [0xE2, 0x80, $0] }
  /// The line separator and the paragraph separator, which `.` in a regular expression does not match.
  private static let separators: [[UInt8]] = [[0xE2, 0x80, 0xA8], [0xE2, 0x80, 0xA9]]

  /// Returns a part of a text without white space at its start and end.
  static func trimmed(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end {
      let size = unsafe spaceSize(text, at: start, before: end)
      if size == 0 { break }
      start += size
    }
    trim: while start < end {
      for size in 1...3 where end - size >= start {
        if unsafe spaceSize(text, at: end - size, before: end) == size {
          end -= size
          continue trim
        }
      }
      break
    }
    return start..<end
  }

  /// Returns the number of bytes of the white space at a position; 0 for any other character.
  private static func spaceSize(_ text: UnsafeRawBufferPointer, at start: Int, before end: Int) -> Int {
    let byte = unsafe text[start]
    if byte == 0x20 || (0x09...0x0D).contains(byte) { return 1 }
    if byte < 0x80 { return 0 }
    let known = wideSpaces.first { wide in
      start + wide.count <= end && (unsafe text[start..<start + wide.count].elementsEqual(wide))
    }
    return known?.count ?? 0
  }

  /// Returns true if a part of a text contains a line separator or a paragraph separator.
  static func hasSeparator(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    guard range.count >= 3 else { return false }
    return (range.lowerBound...range.upperBound - 3).contains { index in
      unsafe text[index] == 0xE2 && separators.contains { unsafe text[index..<index + 3].elementsEqual($0) }
    }
  }
}
