internal import Encoding
internal import Secrets

/// The notation of bytes in `security`: printable ASCII in quotes. If there are other bytes, all bytes are printed
/// first in upper-case hexadecimal, and in the quotes three octal digits represent each byte that cannot be printed,
/// including the backslash. No byte in any output controls a terminal.
enum SecurityText {
  /// Returns the printed form of bytes that are not secret.
  static func show(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    unsafe bytes.withUnsafeBytes { unsafe write($0) { text.append($0) } }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the printed form of a secret.
  static func show(_ secret: borrowing SecretBytes) -> SecretBytes {
    var text = SecretBytes(capacity: secret.count * 6 + 6)
    unsafe secret.withBytes { unsafe write($0) { text.append($0) } }
    return text
  }

  /// Returns the output of `-w`: the secret, or all of it in lower-case hexadecimal if one byte cannot be printed
  /// (isprint(3) in the C locale, regardless of the current locale).
  static func plain(_ secret: borrowing SecretBytes) -> SecretBytes {
    let isPlain = unsafe secret.withBytes { unsafe $0.allSatisfy(isPrintable) }
    if isPlain { return secret.copy() }
    var text = SecretBytes(capacity: secret.count * 2)
    unsafe secret.withBytes { bytes in
      for index in bytes.indices {
        let byte = unsafe bytes[index]
        text.append(digit(byte >> 4, letters: UInt8(ascii: "a")))
        text.append(digit(byte & 15, letters: UInt8(ascii: "a")))
      }
    }
    return text
  }

  /// Decodes a secret in hexadecimal. An odd number of digits is read as if it began with a zero.
  ///
  /// - Returns: the secret, or nil if the text contains anything but hexadecimal digits.
  static func decode(hexadecimal text: SecretSlice) -> SecretBytes? {
    var secret = SecretBytes(capacity: text.count / 2 + 1)
    let isHexadecimal = unsafe text.withBytes { text in
      var high: UInt8? = text.count % 2 == 1 ? 0 : nil
      for index in text.indices {
        guard let value = Hexadecimal.value(ofDigitInAnyCase: unsafe text[index]) else { return false }
        if let first = high {
          secret.append(first << 4 | value)
          high = nil
        } else {
          high = value
        }
      }
      return true
    }
    guard isHexadecimal else { return nil }
    return secret
  }

  /// Returns bytes in upper-case hexadecimal.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digit(byte >> 4, letters: UInt8(ascii: "A")))
      text.append(digit(byte & 15, letters: UInt8(ascii: "A")))
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
    let isShown = { (byte: UInt8) in isPrintable(byte) && byte != UInt8(ascii: "\\") }
    let hasText = unsafe bytes.contains(where: isShown)
    if unsafe !bytes.allSatisfy(isShown) {
      put(UInt8(ascii: "0"))
      put(UInt8(ascii: "x"))
      for index in bytes.indices {
        let byte = unsafe bytes[index]
        put(digit(byte >> 4, letters: UInt8(ascii: "A")))
        put(digit(byte & 15, letters: UInt8(ascii: "A")))
      }
      if hasText { put(UInt8(ascii: " ")) }
      put(UInt8(ascii: " "))
    }
    guard hasText else { return }
    put(UInt8(ascii: "\""))
    for index in bytes.indices {
      let byte = unsafe bytes[index]
      if isShown(byte) {
        put(byte)
        continue
      }
      put(UInt8(ascii: "\\"))
      for shift in [6, 3, 0] as [UInt8] { put(UInt8(ascii: "0") + byte >> shift & 7) }
    }
    put(UInt8(ascii: "\""))
  }

  private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

  private static func digit(_ value: UInt8, letters: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : letters + value - 10
  }
}
