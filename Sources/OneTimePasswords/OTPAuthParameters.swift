internal import Secrets

/// The values of the parts of an `otpauth` URI.
@safe
struct OTPAuthParameters {
  private let text: UnsafeRawBufferPointer
  private let parts: OTPAuthURI

  /// - Parameters:
  ///   - text: The URI. It must outlive this value.
  ///   - parts: Its parts.
  @unsafe init(text: UnsafeRawBufferPointer, parts: OTPAuthURI) {
    unsafe self.text = unsafe text
    self.parts = parts
  }

  /// The type, for error messages; nil unless it is a short word, which cannot be part of a key.
  var typeName: String? {
    let word = unsafe Array(text[parts.type])
    let isShort = (1...12).contains(word.count) && word.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
    return isShort ? String(decoding: word, as: UTF8.self) : nil
  }

  /// Returns the hash function, SHA-1 by default.
  ///
  /// - Throws: `badValue`.
  func hash() throws(SeedError) -> Seed.Hash {
    guard let range = parts.values[.algorithm] else { return .sha1 }
    let names: [(String, Seed.Hash)] = [
      ("sha1", .sha1), ("sha256", .sha256), ("sha512", .sha512), ("sha-1", .sha1), ("sha-256", .sha256),
      ("sha-512", .sha512), ("hmacsha1", .sha1), ("hmacsha256", .sha256), ("hmacsha512", .sha512),
    ]
    guard let known = names.first(where: { unsafe OTPAuthURI.isWord($0.0, text, range) }) else {
      throw .badValue(.algorithm)
    }
    return known.1
  }

  /// Returns true for the issuer of Steam, whose codes have five characters. Some programs write nothing else that
  /// distinguishes these seeds. If the URI has another number of digits, its program means digits.
  ///
  /// - Parameter issuer: The issuer.
  func isSteamsOwn(_ issuer: String?) -> Bool {
    guard let issuer, Seed.isSteam(issuer) else { return false }
    guard let digits = parts.values[.digits] else { return true }
    return unsafe OTPAuthURI.isWord("5", text, digits)
  }

  /// Returns the value of a parameter as a decimal number; nil if the parameter is missing.
  ///
  /// - Throws: `badValue` for a value that is not a number or is out of range.
  func number(_ parameter: SeedError.Parameter, in range: ClosedRange<UInt64>) throws(SeedError) -> UInt64? {
    guard let place = parts.values[parameter] else { return nil }
    guard !place.isEmpty else { throw .badValue(parameter) }
    var number: UInt64 = 0
    for index in place {
      let byte = unsafe text[index]
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .badValue(parameter) }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOver) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      if isTooLarge || isOver { throw .badValue(parameter) }
      number = sum
    }
    guard range.contains(number) else { throw .badValue(parameter) }
    return number
  }

  /// Returns the issuer and the name of the account. A value that is not text is treated as missing.
  ///
  /// The label is `account` or `issuer:account`. The parameter `issuer` takes precedence over the label.
  func names() -> (issuer: String?, account: String?) {
    let issuer = parts.values[.issuer].flatMap { name($0, plusIsSpace: true) }
    guard let label = name(parts.label, plusIsSpace: false) else { return (issuer, nil) }
    // An issuer can contain a colon, which is then not the end of the issuer in the label. Bytes are compared, because a
    // colon and a combining mark after it are one character.
    if let issuer, label.utf8.starts(with: (issuer + ":").utf8) {
      return (
        issuer, Self.trimmed(label[label.utf8.index(label.startIndex, offsetBy: issuer.utf8.count + 1)...])
      )
    }
    guard let colon = label.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (issuer, label) }
    return (issuer ?? Self.trimmed(label[..<colon]), Self.trimmed(label[label.utf8.index(after: colon)...]))
  }

  /// Returns a decoded name. Names become attributes, so they are public.
  private func name(_ range: Range<Int>, plusIsSpace: Bool) -> String? {
    guard let bytes = unsafe OTPAuthURI.decoded(text, range, plusIsSpace: plusIsSpace) else { return nil }
    return String(validating: bytes.publicBytes(), as: UTF8.self).flatMap { Self.trimmed($0[...]) }
  }

  private static func trimmed(_ text: Substring) -> String? {
    guard let first = text.firstIndex(where: { !$0.isWhitespace }),
      let last = text.lastIndex(where: { !$0.isWhitespace })
    else { return nil }
    return String(text[first...last])
  }
}
