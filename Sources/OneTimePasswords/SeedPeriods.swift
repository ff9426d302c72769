internal import Encoding
package import Secrets

/// The period of time in which a code is valid.
package struct Turn: Equatable, Sendable {
  /// The number of periods since 1970.
  package let counter: UInt64
  /// The number of seconds for which the code is still valid, at least one.
  package let seconds: Int64

  /// Makes the turn that contains a time. A time before 1970 counts as 1970 (RFC 6238, section 4.2).
  ///
  /// - Parameters:
  ///   - time: The time, in seconds since 1970.
  ///   - period: The period of the codes, in seconds.
  package init(time: Int64, period: Int64) {
    let time = max(time, 0)
    counter = UInt64(time / period)
    seconds = period - time % period
  }
}

extension Seed {
  /// Returns true if two seeds generate their codes from the same key.
  package func hasKey(of other: borrowing Seed) -> Bool { key.isEqual(to: other.key) }

  /// Returns the text of a seed with its counter incremented. All other bytes are unchanged.
  ///
  /// - Parameters:
  ///   - secret: The text that this seed was parsed from.
  ///   - used: The counter that is used up, if another version of the seed has a larger one.
  /// - Returns: The text with the next counter; nil if the seed has no counter, or if the counter has its maximum
  ///   value.
  package func advanced(_ secret: borrowing SecretBytes, past used: UInt64 = 0) -> SecretBytes? {
    guard case .counter(let own) = factor else { return nil }
    let counter = max(own, used)
    guard counter < .max else { return nil }
    return unsafe secret.withBytes { all -> SecretBytes? in
      let text = unsafe SeedText.trimmed(all)
      // The text was parsed before, so parsing it again does not fail.
      guard let start = text.baseAddress, let first = all.baseAddress,
        let parts = try? unsafe OTPAuthURI(text)
      else { return nil }
      let before = unsafe start - first
      var new = SecretBytes(capacity: all.count + 32)
      let place = parts.values[.counter] ?? parts.end..<parts.end
      unsafe new.append(contentsOf: UnsafeRawBufferPointer(rebasing: all[..<(before + place.lowerBound)]))
      if parts.values[.counter] == nil { new.append(parts.hasQuery ? "&counter=" : "?counter=") }
      new.append(String(counter + 1))
      unsafe new.append(contentsOf: UnsafeRawBufferPointer(rebasing: all[(before + place.upperBound)...]))
      return new
    }
  }

  /// Returns the seed as an `otpauth` URI, for another device.
  ///
  /// - Parameters:
  ///   - issuer: The issuer of the account, if the seed does not have one.
  ///   - account: The name of the account, if the seed does not have one.
  package func address(issuer: String, account: String) -> SecretBytes {
    var address = SecretBytes(capacity: 512)
    let issuer = self.issuer ?? issuer
    var isTimed = true
    if case .counter = factor { isTimed = false }
    address.append(isTimed ? "otpauth://totp/" : "otpauth://hotp/")
    let account = self.account ?? account
    // Without an issuer, the first colon of the account would be read as the end of one.
    if !issuer.isEmpty || account.utf8.contains(UInt8(ascii: ":")) {
      address.append(Self.encoded(issuer) + ":")
    }
    address.append(Self.encoded(account) + "?secret=")
    unsafe key.withBytes { unsafe Base32.append($0, to: &address) }
    if !issuer.isEmpty { address.append("&issuer=" + Self.encoded(issuer)) }
    if hash != .sha1 { address.append("&algorithm=" + hash.name) }
    if isSteam {
      address.append("&encoder=steam")
    } else if digits != 6 || Self.isSteam(issuer) {
      // Without the number of digits, the issuer would make it a seed for Steam codes.
      address.append("&digits=\(digits)")
    }
    switch factor {
    case .time(let period): if period != 30 { address.append("&period=\(period)") }
    case .counter(let counter): address.append("&counter=\(counter)")
    }
    return address
  }

  /// Returns true for the issuer whose codes are Steam codes.
  static func isSteam(_ issuer: String) -> Bool { issuer.lowercased() == "steam" }

  /// Returns a name with everything except the unreserved characters of RFC 3986 percent-encoded.
  private static func encoded(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return name.utf8.reduce(into: "") { text, byte in
      let scalar = Unicode.Scalar(byte)
      if byte < 0x80,
        scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte)
      {
        text.unicodeScalars.append(scalar)
      } else {
        text += "%" + String(digits[Int(byte >> 4)]) + String(digits[Int(byte & 15)])
      }
    }
  }
}
