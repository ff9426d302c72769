internal import Encoding
package import OneTimePasswords

// The messages for invalid seeds. They never quote the content of a seed.

extension CommandError {
  /// Creates the failure for an item, escaped, whose secret is not a valid seed.
  package init(_ error: SeedError, of name: String) {
    self.init(error, "\(name) does not contain a usable one-time password seed")
  }

  /// Creates the failure for an invalid new seed of an item, escaped.
  package init(_ error: SeedError, given name: String) {
    self.init(error, "cannot store the seed of \(name)")
  }

  /// Creates the failure for an item, escaped, whose valid seed yields no code.
  package init(_ error: CodeError, of name: String) {
    self = .other(
      .failure,
      message: "cannot generate a code for \(name): libgcrypt: \(error.reason)",
      hint: "a system policy may forbid the hash function of the seed")
  }

  private init(_ error: SeedError, _ beginning: String) {
    var hint = "a seed is an `otpauth://` URI or base32: the letters and the digits 2 to 7"
    let reason: String
    switch error {
    case .empty: reason = "it is empty"
    case .tooLong(let limit): reason = "it is longer than \(limit) bytes"
    case .notText: reason = "it is not UTF-8"
    case .base32(.invalidCharacter): reason = "it is not base32"
    case .base32(.truncated):
      reason = "its length is not valid for base32"
      hint = "a part of it is missing: copy the whole seed again"
    case .noSecret:
      reason = "the URI has no `secret`"
      hint = "copy the whole URI again"
    case .unknownType(let type):
      let word = type.map { ErrorReport.quote($0) } ?? "its type"
      reason = "\(word) is neither `totp`, `hotp` nor `steam`"
      hint = "keytree supports time-based (`totp`), counter-based (`hotp`) and Steam codes"
    case .repeated(let parameter):
      reason = "the URI has `\(parameter.rawValue)` twice"
      hint = "request a new seed: this one is ambiguous"
    case .badValue(let parameter):
      reason = "`\(parameter.rawValue)` is not \(Self.wanted(parameter))"
      hint = "copy the URI again, or request a new seed"
    case .migration:
      reason = "it is an export of many seeds"
      hint = "export each account separately, as an `otpauth://` URI"
    }
    self = .other(
      .failure, message: "\(beginning): \(reason)", hint: hint)
  }

  private static func wanted(_ parameter: SeedError.Parameter) -> String {
    switch parameter {
    case .secret, .issuer: "correctly percent-encoded"
    case .algorithm: "SHA1, SHA256 or SHA512"
    case .digits: "6, 7 or 8"
    case .period: "a number of seconds, at least 1"
    case .counter: "a number below 2^64"
    }
  }
}
