internal import Encoding
package import Secrets

/// The seed of one-time passwords: the key and the parameters for generating codes from it, by time (RFC 6238) or by a
/// counter (RFC 4226).
package struct Seed: ~Copyable {
  /// The hash function of the HMAC.
  package enum Hash: Equatable, Sendable, CaseIterable {
    case sha1, sha256, sha512
  }

  /// The moving factor of the codes.
  package enum Factor: Equatable, Sendable {
    /// The time. A code is valid for `period` seconds.
    case time(period: Int64)
    /// A counter, and its value for the next code.
    case counter(UInt64)
  }

  /// The maximum size of a seed as text, in bytes.
  package static let limit = 8192
  /// The periods for which a code may be valid, in seconds.
  package static let periods: ClosedRange<Int64> = 1...(1 << 31)

  /// The hash function.
  package let hash: Hash
  /// The number of characters of a code: 6 to 8 digits, or the five characters of a Steam code.
  package let digits: Int
  /// A Boolean value that indicates whether the codes are written in Steam's alphabet instead of digits.
  package let isSteam: Bool
  /// The moving factor.
  package let factor: Factor
  /// The issuer of the account, if the URI has one.
  package let issuer: String?
  /// The name of the account, if the URI has one.
  package let account: String?
  /// A Boolean value that indicates whether the seed was a URI, not only Base32.
  package let isURI: Bool

  let key: SecretBytes

  /// Parses a seed: an `otpauth` URI, or only Base32, which means SHA-1, six digits and thirty seconds.
  ///
  /// A seed is for Steam codes if it begins with `steam://`, or if it is an `otpauth` URI of the type `steam`, with
  /// `encoder=steam`, or with the issuer Steam and no other number of characters than five.
  ///
  /// Surrounding white space and unknown parameters are ignored.
  ///
  /// - Parameter secret: The text.
  /// - Throws: `SeedError`.
  package init(_ secret: borrowing SecretBytes) throws(SeedError) {
    guard secret.count <= Self.limit else { throw .tooLong(limit: Self.limit) }
    guard secret.isUTF8 else { throw .notText }
    self = try unsafe secret.withBytes { all throws(SeedError) -> Seed in
      let text = unsafe SeedText.trimmed(all)
      guard unsafe !text.isEmpty else { throw .empty }
      guard unsafe !SeedText.starts(text, with: "otpauth-migration:") else { throw .migration }
      if unsafe SeedText.starts(text, with: OTPAuthURI.scheme) {
        return try unsafe Seed(address: text)
      }
      let isSteam = unsafe SeedText.starts(text, with: Self.steamScheme)
      let start = isSteam ? Self.steamScheme.utf8.count : 0
      let key = try unsafe Self.key(UnsafeRawBufferPointer(rebasing: text[start...]))
      guard !key.isEmpty else { throw isSteam ? .noSecret : .empty }
      return Seed(
        hash: .sha1, digits: isSteam ? Self.steamLength : 6, isSteam: isSteam,
        factor: .time(period: 30),
        issuer: nil, account: nil, isURI: isSteam, key: key)
    }
  }

  /// The number of characters of a Steam code.
  private static let steamLength = 5
  private static let steamScheme = "steam://"

  init(
    hash: Hash, digits: Int, isSteam: Bool, factor: Factor, issuer: String?, account: String?,
    isURI: Bool,
    key: consuming SecretBytes
  ) {
    (self.hash, self.digits, self.isSteam, self.factor) = (hash, digits, isSteam, factor)
    (self.issuer, self.account, self.isURI) = (issuer, account, isURI)
    self.key = key
  }

  private static func key(_ text: UnsafeRawBufferPointer) throws(SeedError) -> SecretBytes {
    do {
      return try unsafe Base32.decode(text)
    } catch {
      throw .base32(error)
    }
  }

  private init(address text: UnsafeRawBufferPointer) throws(SeedError) {
    let parts = try unsafe OTPAuthURI(text)
    let values = unsafe OTPAuthParameters(text: text, parts: parts)
    let isSteamType = unsafe OTPAuthURI.isWord("steam", text, parts.type)
    let isTimed = unsafe isSteamType || OTPAuthURI.isWord("totp", text, parts.type)
    guard unsafe isTimed || OTPAuthURI.isWord("hotp", text, parts.type) else {
      throw .unknownType(values.typeName)
    }
    guard let encoded = parts.values[.secret] else { throw .noSecret }
    guard let decoded = unsafe OTPAuthURI.decoded(text, encoded, plusIsSpace: true)?.copy() else {
      throw .badValue(.secret)
    }
    let key = try unsafe decoded.withBytes { bytes throws(SeedError) in try unsafe Self.key(bytes) }
    if key.isEmpty { throw .noSecret }
    let hash = try values.hash()
    let (issuer, account) = values.names()
    let isSteam = isTimed && (isSteamType || parts.isSteam || values.isSteamsOwn(issuer))
    let digits = isSteam ? Self.steamLength : Int(try values.number(.digits, in: 6...8) ?? 6)
    let factor: Factor
    if isTimed {
      let period = try values.number(.period, in: 1...UInt64(Self.periods.upperBound)) ?? 30
      factor = .time(period: Int64(period))
    } else {
      factor = .counter(try values.number(.counter, in: 0...UInt64.max) ?? 0)
    }
    self.init(
      hash: hash, digits: digits, isSteam: isSteam, factor: factor, issuer: issuer,
      account: account,
      isURI: true, key: key)
  }
}

/// Functions for the text of a seed.
enum SeedText {
  /// Returns the text without surrounding white space.
  static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
    guard let first = unsafe text.firstIndex(where: { !isSpace($0) }),
      let last = unsafe text.lastIndex(where: { !isSpace($0) })
    else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    return unsafe UnsafeRawBufferPointer(rebasing: text[first...last])
  }

  /// Returns true if text begins with a word, ignoring case.
  static func starts(_ text: UnsafeRawBufferPointer, with word: String) -> Bool {
    text.count >= word.utf8.count && (unsafe OTPAuthURI.isWord(word, text, 0..<word.utf8.count))
  }
}
