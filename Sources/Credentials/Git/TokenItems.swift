internal import KeyringModel

/// Items that are stored beside the password of an account, or instead of it, and are never returned as a password.
///
/// Only the authentication type determines the kind of an item. It is part of the primary key and is checked against
/// the verified record. A custom attribute would be read from the index, which anyone who can push may change (threat
/// T10).
enum TokenItems {
  /// The prefix of the authentication type of an access token. The scheme of the header `Authorization` follows.
  private static let headerPrefix = "http-token:"
  /// The authentication type of a refresh token. If it belongs to an access token, the scheme follows.
  private static let refreshType = "oauth-refresh-token"

  /// Returns the authentication type of a token with a scheme.
  static func type(ofScheme scheme: [UInt8]) -> AttributeValue {
    .string(headerPrefix + String(decoding: scheme, as: UTF8.self).lowercased())
  }

  /// Returns the scheme of the header that an item is for, in its original case; nil for any other item.
  static func scheme(of record: ItemRecord) -> [UInt8]? {
    let type = LoginItems.type(of: record)
    guard type.hasPrefix(headerPrefix) else { return nil }
    let scheme = type.dropFirst(headerPrefix.count)
    let spelled = record.attributes[.authorizationScheme]?.contentBytes ?? []
    return String(decoding: spelled, as: UTF8.self).lowercased() == scheme ? spelled : Array(scheme.utf8)
  }

  /// Returns the attributes of the item with the refresh token of a login.
  static func refreshToken(beside record: ItemRecord) -> Attributes {
    var attributes = record.attributes
    let scheme = scheme(of: record).map { ":" + String(decoding: $0, as: UTF8.self).lowercased() } ?? ""
    attributes[.authenticationType] = .string(refreshType + scheme)
    attributes[.passwordExpiry] = nil
    attributes[.authorizationScheme] = nil
    return attributes
  }
}

extension AttributeName {
  /// The scheme of a token in its original case; a custom attribute, for display only.
  static let authorizationScheme: AttributeName = "authorizationScheme"
}
