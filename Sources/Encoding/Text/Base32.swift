package import Secrets

/// Base32 in the forms that users paste (RFC 4648, section 6): in either case, with spaces, hyphens and line ends
/// between groups, and with or without padding.
package enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  /// Decodes a text.
  ///
  /// - Throws: `invalidCharacter`; `truncated`. Unused bits at the end are ignored.
  package static func decode(_ text: UnsafeRawBufferPointer) throws(Base32Error) -> SecretBytes {
    var bytes = SecretBytes(capacity: text.count)
    var (bits, width, characters, isPadded): (UInt32, Int, Int, Bool) = (0, 0, 0, false)
    for index in text.indices {
      let character = unsafe text[index]
      if character == UInt8(ascii: "=") { isPadded = true }
      if isFiller(character) { continue }
      guard !isPadded, let value = value(of: character) else { throw .invalidCharacter }
      characters += 1
      bits = bits << 5 | value
      width += 5
      if width >= 8 {
        width -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(width)))
      }
    }
    // Eight characters encode five bytes. A rest of 1, 3 or 6 characters ends in the middle of a byte.
    if [1, 3, 6].contains(characters % 8) { throw .truncated }
    return bytes
  }

  /// Adds bytes as upper-case text without padding.
  package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout SecretBytes) {
    var (bits, width): (UInt32, Int) = (0, 0)
    for index in bytes.indices {
      bits = bits << 8 | UInt32(unsafe bytes[index])
      width += 8
      while width >= 5 {
        width -= 5
        text.append(alphabet[Int(bits >> UInt32(width) & 31)])
      }
    }
    if width > 0 { text.append(alphabet[Int(bits << UInt32(5 - width) & 31)]) }
  }

  private static func isFiller(_ character: UInt8) -> Bool {
    character == UInt8(ascii: "=") || character == UInt8(ascii: "-") || character == UInt8(ascii: " ")
      || (0x09...0x0D).contains(character)
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a"))
    case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(character - UInt8(ascii: "2") + 26)
    default: nil
    }
  }
}

/// The reasons why a text is not Base32.
package enum Base32Error: Error, Equatable, Sendable {
  /// A character is not in the alphabet (RFC 4648, section 6): the letters and the digits 2 to 7.
  case invalidCharacter
  /// No number of bytes is encoded in this number of characters, so the end is missing.
  case truncated
}
