package import Encoding

/// The reasons why bytes are not a seed of one-time passwords. They contain nothing of the seed.
package enum SeedError: Error, Equatable, Sendable {
  /// There is nothing but white space.
  case empty
  /// There are more bytes than a seed may have.
  case tooLong(limit: Int)
  /// The bytes are no UTF-8.
  case notText
  /// The key is not valid Base32.
  case base32(Base32Error)
  /// An `otpauth` URI without a secret.
  case noSecret
  /// An `otpauth` URI of another type than `totp` and `hotp`; its name, when it is a word.
  case unknownType(String?)
  /// A parameter that counts is there twice.
  case repeated(Parameter)
  /// A parameter that counts has a value that it cannot have.
  case badValue(Parameter)
  /// A code of Steam, which is made in another way.
  case steam
  /// An export of Google Authenticator, which holds many seeds.
  case migration

  /// The parameters of an `otpauth` URI that count.
  package enum Parameter: String, CaseIterable, Sendable {
    case secret, algorithm, digits, period, counter, issuer
  }
}
