internal import Keyring
internal import KeyringModel
internal import Secrets

/// A login to be stored.
struct NewLogin {
  /// The attributes of its primary key, and its label.
  let attributes: Attributes
  /// The password, or the value after the scheme.
  let secret: SecretSlice

  /// Makes the login of a message; nil if the message has neither a user name and password nor a scheme and its value.
  init?(_ credential: GitCredential, _ endpoint: Endpoint) {
    var attributes = Attributes()
    attributes[.server] = AttributeValue(text: endpoint.host.host)
    attributes[.protocol] = .string(endpoint.scheme)
    attributes[.port] = endpoint.host.port.map { .integer($0) }
    attributes[.path] = endpoint.path.flatMap { $0.isEmpty ? nil : AttributeValue(text: $0) }
    // An empty user name is valid: some servers authenticate by other means, and git then does not ask for a name.
    attributes[.account] = credential.username.map { AttributeValue(text: $0) }
    attributes[.passwordExpiry] = credential.passwordExpiry.map { .string(String($0)) }
    if let scheme = credential.authenticationType, let token = credential.credential, !scheme.isEmpty {
      attributes[.authenticationType] = TokenItems.type(ofScheme: scheme)
      attributes[.authorizationScheme] = AttributeValue(text: scheme)
      secret = token
    } else {
      guard credential.username != nil, let password = credential.password else { return nil }
      secret = password
    }
    self.attributes = attributes
  }

  /// The time when it expires.
  var expiry: AttributeValue? { attributes[.passwordExpiry] }

  /// The item with its attributes, without a group.
  var item: NewItem { NewItem(itemClass: .internetPassword, attributes: attributes) }

  /// Its primary key in a group.
  func key(group: String) -> PrimaryKey {
    PrimaryKey(itemClass: .internetPassword, attributes: attributes, group: group)
  }

  /// Returns true if an item is of the same kind: a password, or a token of the same scheme.
  func isSameKind(_ record: ItemRecord) -> Bool {
    guard let type = attributes[.authenticationType] else { return LoginItems.isPassword(record) }
    return record.attributes[.authenticationType]?.isSame(as: type) == true
  }
}

/// The changes that store a login in one transaction.
struct LoginChange {
  let wanted: NewLogin
  /// The item to update; nil for a new one.
  let record: ItemRecord?
  let replacesSecret: Bool
  /// A Boolean value that indicates whether the expiry time changes.
  let setsExpiry: Bool
  /// The item with its refresh token.
  let token: ItemRecord?
  /// The new refresh token, if it changes.
  let newToken: SecretSlice?
  let removesToken: Bool

  /// Makes the change.
  ///
  /// - Returns: The item with the login.
  /// - Throws: The errors of `Keyring.add` and `Keyring.update`.
  func apply(to keyring: Keyring) throws -> ItemRecord {
    // In the usual case encryption happens before the lock is taken, so that concurrent programs do not wait for each
    // other.
    if newToken == nil, !removesToken {
      guard let record else { return try keyring.add(wanted.item, secret: wanted.secret.copy()) }
      return replacesSecret
        ? try keyring.update(record, attributeChanges, secret: wanted.secret.copy())
        : try keyring.update(record, attributeChanges)
    }
    return try keyring.transaction { changes throws(KeyringError) in
      let login = try applyLogin(&changes)
      let attributes = TokenItems.refreshToken(beside: login)
      if let newToken, let token {
        _ = try changes.update(token, AttributeChanges(), secret: newToken.copy())
      } else if let newToken {
        let item = NewItem(itemClass: .internetPassword, attributes: attributes, group: login.group)
        _ = try changes.add(item, secret: newToken.copy())
      } else if let token, removesToken {
        try changes.delete(token)
      }
      return login
    }
  }

  private func applyLogin(_ changes: inout WriteTransaction) throws(KeyringError) -> ItemRecord {
    guard let record else { return try changes.add(wanted.item, secret: wanted.secret.copy()) }
    return replacesSecret
      ? try changes.update(record, attributeChanges, secret: wanted.secret.copy())
      : try changes.update(record, attributeChanges)
  }

  /// The attribute changes of an existing login. Only its expiry time can change.
  private var attributeChanges: AttributeChanges {
    guard setsExpiry else { return AttributeChanges() }
    guard let expiry = wanted.expiry else { return AttributeChanges(clear: [.passwordExpiry]) }
    return AttributeChanges(set: [.passwordExpiry: expiry])
  }
}
