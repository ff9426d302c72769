internal import KeyringModel

/// Items that are kept beside the password of an account, or in its place, and are never handed out as one.
///
/// What an item is follows from its kind of authentication alone, which names it and stands in its sealed header. A
/// custom attribute would be a word of the index, which whoever can push may change (threat T10).
enum TokenItems {
  /// In front of the scheme of the header `Authorization`, for what follows it there.
  private static let headerPrefix = "http-token:"
  /// The authentication type of a refresh token; for an access token, the scheme follows.
  private static let refreshType = "oauth-refresh-token"

  /// The kind of authentication of a token of a scheme.
  static func type(ofScheme scheme: [UInt8]) -> AttributeValue {
    .string(headerPrefix + String(decoding: scheme, as: UTF8.self).lowercased())
  }

  /// The scheme of the header that an item belongs into, as it was spelled; nil for any other item.
  static func scheme(of record: ItemRecord) -> [UInt8]? {
    let type = LoginItems.type(of: record)
    guard type.hasPrefix(headerPrefix) else { return nil }
    let scheme = type.dropFirst(headerPrefix.count)
    let spelled = record.attributes[.authorizationScheme]?.contentBytes ?? []
    return String(decoding: spelled, as: UTF8.self).lowercased() == scheme ? spelled : Array(scheme.utf8)
  }

  /// The attributes of the item with the refresh token of a login.
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
  /// The spelling of the scheme of a token; a custom attribute, for display only.
  static let authorizationScheme: AttributeName = "authorizationScheme"
}
