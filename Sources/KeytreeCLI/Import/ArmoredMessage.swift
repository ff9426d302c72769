/// OpenPGP messages as text (RFC 9580, section 6), as gpg writes them when its settings say `armor`.
enum ArmoredMessage {
  private static let begin = Array("-----BEGIN PGP MESSAGE-----".utf8)
  private static let end = Array("-----END PGP MESSAGE-----".utf8)

  /// The message in binary; the bytes as they are when they are no armored message.
  ///
  /// The check sum at the end is not looked at: it protects nothing that the encryption does not.
  static func binary(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.starts(with: begin) else { return bytes }
    var isBody = false
    var digits: [UInt8] = []
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst() {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.starts(with: end) { return decode(digits) ?? bytes }
      if !isBody {
        // Headers such as `Version: ...` end with an empty line.
        isBody = line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      } else if line.first != UInt8(ascii: "=") {
        digits += line
      }
    }
    return bytes
  }

  private static func decode(_ digits: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (buffer, bits) = (UInt32(0), 0)
    for digit in digits {
      let value: UInt32
      switch digit {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(digit - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(digit - UInt8(ascii: "a")) + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(digit - UInt8(ascii: "0")) + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "="): continue
      default: return nil
      }
      buffer = buffer << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        buffer &= (1 << UInt32(bits)) - 1
      }
    }
    return bytes
  }
}
