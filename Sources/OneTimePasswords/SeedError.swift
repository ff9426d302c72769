package import Encoding

/// The reasons why bytes are not a seed of one-time passwords. They contain no part of the key.
package enum SeedError: Error, Equatable, Sendable {
  /// The text is empty or only white space.
  case empty
  /// The text has more bytes than the limit.
  case tooLong(limit: Int)
  /// The bytes are not UTF-8.
  case notText
  /// The key is not valid Base32.
  case base32(Base32Error)
  /// The `otpauth` URI has no secret.
  case noSecret
  /// The `otpauth` URI has another type than `totp`, `hotp` and `steam`. The value is the name of the type, if it is a word.
  case unknownType(String?)
  /// A known parameter occurs twice.
  case repeated(Parameter)
  /// A known parameter has an invalid value.
  case badValue(Parameter)
  /// The text is an export of Google Authenticator, which contains many seeds.
  case migration

  /// The known parameters of an `otpauth` URI. Others are ignored.
  package enum Parameter: String, CaseIterable, Sendable {
    case secret, algorithm, digits, period, counter, issuer
  }
}
