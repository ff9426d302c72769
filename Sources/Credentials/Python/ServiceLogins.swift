package import Keyring
package import KeyringModel
package import Secrets

/// Passwords by the name of a service and an account, as Python's `keyring` knows them.
///
/// A service is the name of a generic password; or, for pip and uv, a URL, for which internet passwords of its
/// protocol,
/// host and port answer. A host alone names no protocol, and pip asks for one after it has asked for a URL in vain,
/// also
/// one of `http`: it is a service like any other.
package struct ServiceLogins {
  private let keyring: Keyring
  private let items: LoginItems
  private let recent: RecentLogins
  private let now: Timestamp

  /// The passwords of a keyring.
  ///
  /// - Parameters:
  ///   - keyring: Where they are.
  ///   - recent: Which account was used last.
  ///   - now: The current time: a password that has ended is not handed out.
  package init(_ keyring: Keyring, recent: RecentLogins, now: Timestamp) {
    self.keyring = keyring
    items = LoginItems(keyring: keyring)
    self.recent = recent
    self.now = now
  }

  /// Looks for a password.
  ///
  /// - Parameters:
  ///   - service: A generic password's service, compared as it is; else a URL. An internet password with a path answers
  ///     for what is below it.
  ///   - account: The account; nil for any, of which the one used last is taken.
  /// - Returns: The account and the password; nil when there is none.
  /// - Throws: `ambiguous` for items of several groups; `damagedIndex`, `KeyringError`.
  package func find(
    service: [UInt8], account: [UInt8]?
  ) throws -> (account: [UInt8], secret: SecretSlice, ItemReference)? {
    let item = item(service, account)
    if let record = try item.find() {
      return (record.attributes[.account]?.contentBytes ?? [], try item.secret(of: record), record.reference)
    }
    guard String(decoding: service, as: UTF8.self).contains("://"),
      let endpoint = Endpoint(url: service, scheme: "")
    else { return nil }
    let server = Endpoint(scheme: endpoint.scheme, host: endpoint.host)
    let found = try items.find(at: server, account: account) { record in
      LoginItems.isPassword(record) && !isExpired(record) && endpoint.isBelow(record.attributes[.path])
    }
    try found.rivals.requireOneGroupForEachAccount()
    try recent.requireOneGroup(of: found.rivals, at: endpoint)
    guard let record = recent.latest(of: try found.settled(), at: endpoint) else { return nil }
    let secret = try items.secret(of: record)
    return (record.attributes[.account]?.contentBytes ?? [], secret, record.reference)
  }

  /// Stores a password as a generic one, in place of the one that is there.
  ///
  /// - Returns: Whether anything has changed.
  /// - Throws: `ambiguous`, `damagedIndex`, `KeyringError`, `contended`.
  package func store(
    _ secret: SecretSlice, service: [UInt8], account: [UInt8]
  ) throws -> Bool {
    try item(service, account).store(secret)
  }

  /// Removes a generic password.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: `ambiguous`, `damagedIndex`, `KeyringError`.
  package func remove(service: [UInt8], account: [UInt8]) throws -> Bool {
    try item(service, account).erase()
  }

  /// The generic password of a service; of a URL what may be public.
  private func item(_ service: [UInt8], _ account: [UInt8]?) -> ServiceItem {
    let isURL = String(decoding: service, as: UTF8.self).contains("://")
    return ServiceItem(
      keyring: keyring, service: AttributeValue(text: isURL ? Endpoint.publicURL(service) : service),
      account: account.map { AttributeValue(text: $0) })
  }

  private func isExpired(_ record: ItemRecord) -> Bool {
    LoginItems.expiry(of: record).map { $0 < now.microseconds / 1_000_000 } == true
  }
}
