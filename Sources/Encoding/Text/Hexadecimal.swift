/// Lower-case hexadecimal text, with two digits for each byte and no separators.
package enum Hexadecimal {
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }

  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }

  /// Returns the value of a lower-case digit, or nil. Upper case is not accepted, because it would be a second spelling
  /// of the same bytes.
  package static func value(ofDigit byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// The value of a digit in either case, for formats of other programs; nil for any other byte.
  package static func value(ofDigitInAnyCase byte: UInt8) -> UInt8? {
    value(ofDigit: (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) ? byte | 0x20 : byte)
  }

  /// Returns a number with at least a number of digits, padded with zeros.
  package static func text(
    _ number: some BinaryInteger, digits count: Int, uppercase: Bool = false
  ) -> String {
    let digits = String(number, radix: 16, uppercase: uppercase)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }

  /// The 64-bit number that 16 digits starting at `start` spell, or nil.
  package static func word(_ digits: UnsafeRawBufferPointer, from start: Int) -> UInt64? {
    guard start + 16 <= digits.count else { return nil }
    var word: UInt64 = 0
    for index in start..<start + 16 {
      guard let value = unsafe value(ofDigit: digits[index]) else { return nil }
      word = word << 4 | UInt64(value)
    }
    return word
  }
}
