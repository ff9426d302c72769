package import Keyring
package import KeyringModel
package import Secrets

/// Passwords by the name of a service and an account, as Python's `keyring` knows them.
///
/// A service is the name of a generic password; or, for pip and uv, the URL or host of a server, whose passwords
/// are internet passwords.
package struct ServiceLogins {
  private let keyring: Keyring
  private let items: LoginItems
  private let recent: RecentLogins

  /// The passwords of a keyring.
  package init(_ keyring: Keyring, recent: RecentLogins) {
    self.keyring = keyring
    items = LoginItems(keyring: keyring)
    self.recent = recent
  }

  /// Looks for a password.
  ///
  /// - Parameters:
  ///   - service: A generic password's service, compared as it is; else a URL or a host with or without a port.
  ///   - account: The account; nil for any, of which the one used last is taken.
  /// - Returns: The account and the password; nil when there is none.
  /// - Throws: `keyring`.
  package func find(
    service: [UInt8], account: [UInt8]?
  ) throws(CredentialError) -> (account: [UInt8], secret: SecretSlice, ItemReference)? {
    if let record = try generic(service, account) {
      let query = Query(
        itemClass: .genericPassword, predicates: [.equal(.service, AttributeValue(text: service))])
      let secret = SecretSlice(try asCredential(keyring.secret(for: record, matching: query)))
      return (record.attributes[.account]?.contentBytes ?? [], secret, record.reference)
    }
    guard let endpoint = Endpoint(url: service, scheme: "https") else { return nil }
    let found = try asCredential(
      items.find(at: Endpoint(scheme: endpoint.scheme, host: endpoint.host), account: account) { record in
        LoginItems.isPassword(record)
          && (record.attributes[.path] == nil || endpoint.isServed(by: record) || endpoint.path == nil)
      })
    guard let record = recent.latest(of: found, at: endpoint) else { return nil }
    let secret = try asCredential(items.secret(of: record))
    return (record.attributes[.account]?.contentBytes ?? [], secret, record.reference)
  }

  /// Stores a password as a generic one, in place of the one that is there.
  ///
  /// - Returns: Whether anything has changed.
  /// - Throws: `keyring`.
  package func store(
    _ secret: SecretSlice, service: [UInt8], account: [UInt8]
  ) throws(CredentialError) -> Bool {
    if let record = try generic(service, account) {
      let known = SecretSlice(try asCredential(keyring.secret(for: record)))
      if known.isEqual(to: secret) { return false }
      _ = try asCredential(keyring.update(record, secret: secret.copy()))
      return true
    }
    let attributes: Attributes = [
      .service: AttributeValue(text: service), .account: AttributeValue(text: account),
    ]
    let item = NewItem(itemClass: .genericPassword, attributes: attributes)
    _ = try asCredential(keyring.add(item, secret: secret.copy()))
    return true
  }

  /// Removes a generic password.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: `keyring`.
  package func remove(service: [UInt8], account: [UInt8]) throws(CredentialError) -> Bool {
    guard let record = try generic(service, account) else { return false }
    try asCredential(keyring.delete([record]))
    return true
  }

  private func generic(_ service: [UInt8], _ account: [UInt8]?) throws(CredentialError) -> ItemRecord? {
    var predicates = [Predicate.equal(.service, AttributeValue(text: service))]
    if let account { predicates.append(.equal(.account, AttributeValue(text: account))) }
    let found = try asCredential(
      keyring.find(Query(itemClass: .genericPassword, predicates: predicates))
    ).items
    // A note beside a password has its service as well.
    return found.first { $0.attributes[.kind] != "note" }
  }
}
