package import Secrets

/// An encoding of text other than UTF-8, from which a file is converted if the user says so.
package enum TextEncoding: String, CaseIterable, Sendable {
  /// ISO 8859-1.
  case latin1
  /// The encoding of older Windows programs in Western Europe.
  case windows1252 = "windows-1252"
  /// UTF-16 with a byte order mark. Without one, the first character is taken for ASCII.
  case utf16 = "utf-16"

  /// Converts text to UTF-8.
  ///
  /// - Parameter text: the text in this encoding.
  /// - Returns: the text in UTF-8 without a byte order mark; nil if it is not text in this encoding.
  package func decode(_ text: borrowing SecretBytes) -> SecretBytes? {
    unsafe text.withBytes { bytes -> SecretBytes? in
      switch self {
      case .latin1: unsafe Self.convert(bytes) { UInt32($0) }
      case .windows1252: unsafe Self.convert(bytes) { Self.windows[UInt32($0)] ?? UInt32($0) }
      case .utf16: unsafe Self.convertUTF16(bytes)
      }
    }
  }

  // The bytes 0x80 to 0x9F of Windows-1252, except those that it does not define.
  private static let windows: [UInt32: UInt32] = [
    0x80: 0x20AC, 0x82: 0x201A, 0x83: 0x0192, 0x84: 0x201E, 0x85: 0x2026, 0x86: 0x2020,
    0x87: 0x2021, 0x88: 0x02C6,
    0x89: 0x2030, 0x8A: 0x0160, 0x8B: 0x2039, 0x8C: 0x0152, 0x8E: 0x017D, 0x91: 0x2018,
    0x92: 0x2019, 0x93: 0x201C,
    0x94: 0x201D, 0x95: 0x2022, 0x96: 0x2013, 0x97: 0x2014, 0x98: 0x02DC, 0x99: 0x2122,
    0x9A: 0x0161, 0x9B: 0x203A,
    0x9C: 0x0153, 0x9E: 0x017E, 0x9F: 0x0178,
  ]

  private static func convert(_ bytes: UnsafeRawBufferPointer, _ scalar: (UInt8) -> UInt32)
    -> SecretBytes
  {
    var text = SecretBytes(capacity: bytes.count * 2)
    for index in bytes.indices { append(scalar(unsafe bytes[index]), to: &text) }
    return text
  }

  private static func convertUTF16(_ bytes: UnsafeRawBufferPointer) -> SecretBytes? {
    guard bytes.count.isMultiple(of: 2), bytes.count >= 2 else { return nil }
    let first = unsafe (bytes[0], bytes[1])
    let hasMark = first == (0xFF, 0xFE) || first == (0xFE, 0xFF)
    let isBigEndian = hasMark ? first.0 == 0xFE : first.0 == 0
    func unit(_ index: Int) -> UInt32 {
      let (one, other) = unsafe (UInt32(bytes[index]), UInt32(bytes[index + 1]))
      return isBigEndian ? one << 8 | other : other << 8 | one
    }
    var text = SecretBytes(capacity: bytes.count / 2 * 3)
    var index = hasMark ? 2 : 0
    while index < bytes.count {
      var scalar = unit(index)
      index += 2
      if (0xD800..<0xE000).contains(scalar) {
        // A high surrogate and a low one are one character (RFC 2781, section 2.2).
        guard scalar < 0xDC00, index < bytes.count, (0xDC00..<0xE000).contains(unit(index)) else {
          return nil
        }
        scalar = 0x10000 + (scalar - 0xD800) << 10 + (unit(index) - 0xDC00)
        index += 2
      }
      append(scalar, to: &text)
    }
    return text
  }

  /// Appends a character in UTF-8 (RFC 3629, section 3).
  private static func append(_ scalar: UInt32, to text: inout SecretBytes) {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(0x80 | scalar >> shift & 0x3F) }
    switch scalar {
    case ..<0x80: text.append(UInt8(scalar))
    case ..<0x800:
      text.append(UInt8(0xC0 | scalar >> 6))
      text.append(tail(0))
    case ..<0x10000:
      text.append(UInt8(0xE0 | scalar >> 12))
      text.append(tail(6))
      text.append(tail(0))
    default:
      text.append(UInt8(0xF0 | scalar >> 18))
      text.append(tail(12))
      text.append(tail(6))
      text.append(tail(0))
    }
  }
}
