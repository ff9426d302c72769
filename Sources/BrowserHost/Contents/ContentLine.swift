/// A line of the content of a login that the extension understands: `KEY: VALUE`, or an `otpauth` URI.
///
/// This repeats the rules of the function `parseFields` in the extension.
struct ContentLine {
  /// The fields of the extension, with the keys that mean them.
  enum Field: CaseIterable {
    case secret, login, openid, otp, url, autoSubmit

    var keys: [String] {
      switch self {
      case .secret: ["secret", "password", "pass"]
      case .login: ["login", "username", "user"]
      case .openid: ["openid"]
      case .otp: ["otp", "totp"]
      case .url: ["url", "uri", "website", "site", "link", "launch"]
      case .autoSubmit: ["autosubmit"]
      }
    }
  }

  /// The field that the line sets.
  let field: Field
  /// The value, without white space at its start and end; it may be empty.
  let value: Range<Int>

  /// Reads a line; nil for any other line.
  ///
  /// - Parameters:
  ///   - text: The text that contains the line.
  ///   - line: The line without its line end.
  init?(_ text: UnsafeRawBufferPointer, _ line: Range<Int>) {
    // The extension's regular expressions do not match across these separators.
    if unsafe ExtensionText.hasSeparator(text, line) { return nil }
    if unsafe Self.isURI(text, line) {
      (field, value) = (.otp, unsafe ExtensionText.trimmed(text, line))
      return
    }
    // At least one character is in front of the colon.
    guard line.count > 1,
      let colon = unsafe text[(line.lowerBound + 1)..<line.upperBound].firstIndex(of: 0x3A)
    else { return nil }
    var key = unsafe ExtensionText.trimmed(text, line.lowerBound..<colon)
    var value = unsafe ExtensionText.trimmed(text, colon + 1..<line.upperBound)
    // The extension removes empty parts before it takes the first one as the key.
    if key.isEmpty { (key, value) = (value, value.upperBound..<value.upperBound) }
    guard
      let field = Field.allCases.first(where: { field in
        field.keys.contains { unsafe Self.isWord($0, text, key) }
      })
    else { return nil }
    (self.field, self.value) = (field, value)
  }

  private static func isURI(_ text: UnsafeRawBufferPointer, _ line: Range<Int>) -> Bool {
    let scheme = "otpauth://"
    let end = line.lowerBound + scheme.utf8.count
    return end < line.upperBound && (unsafe isWord(scheme, text, line.lowerBound..<end))
  }

  /// Returns true if a part of a text is a word of lower-case ASCII, ignoring case.
  ///
  /// The Kelvin sign is also a `k`, because JavaScript converts it to that letter.
  private static func isWord(_ word: String, _ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    var index = range.lowerBound
    for letter in word.utf8 {
      guard index < range.upperBound else { return false }
      let byte = unsafe text[index]
      let isKelvin =
        letter == UInt8(ascii: "k") && index + 3 <= range.upperBound
        && (unsafe text[index..<index + 3].elementsEqual([0xE2, 0x84, 0xAA]))
      let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      guard isKelvin || byte == letter || (isLetter && byte | 0x20 == letter) else { return false }
      index += isKelvin ? 3 : 1
    }
    return index == range.upperBound
  }
}
