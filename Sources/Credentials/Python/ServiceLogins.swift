internal import Encoding
package import Keyring
package import KeyringModel
package import Secrets

/// Passwords by service and account, as in Python's `keyring`.
///
/// A service is the name of a generic password. For pip and uv it can be a URL, which also matches internet passwords
/// with its protocol, host and port. A host without a protocol matches generic passwords only, because pip asks for it
/// after any URL that was not found, including `http` URLs.
package struct ServiceLogins {
  private let keyring: Keyring
  private let items: LoginItems
  private let recent: RecentLogins
  private let now: Timestamp

  /// Makes a lookup in a keyring.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - recent: The accounts that were used last.
  ///   - now: The current time. An expired password is not returned.
  package init(_ keyring: Keyring, recent: RecentLogins, now: Timestamp) {
    self.keyring = keyring
    items = LoginItems(keyring: keyring)
    self.recent = recent
    self.now = now
  }

  /// Finds a password.
  ///
  /// - Parameters:
  ///   - service: A generic password's service, compared exactly, or else a URL. An internet password with a path
  ///     matches all URLs below that path.
  ///   - account: The account; nil for the one used last.
  /// - Returns: The account, the password and its item; nil if there is none.
  /// - Throws: `ambiguous` for items of several groups; `damagedIndex`, `KeyringError`.
  package func find(
    service: [UInt8], account: [UInt8]?
  ) throws -> (account: [UInt8], secret: SecretSlice, ItemReference)? {
    let item = item(service, account)
    if let record = try item.find() {
      return (record.attributes[.account]?.contentBytes ?? [], try item.secret(of: record), record.reference)
    }
    guard ByteSearch.contains(service, Array("://".utf8)),
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

  /// Stores a generic password, replacing an existing one.
  ///
  /// - Returns: True if anything has changed.
  /// - Throws: `ambiguous`, `damagedIndex`, `KeyringError`, `contended`. An internet password for the host and the account is
  ///   another spelling of the new one, because pip gets it for a URL and stores a new one under the host.
  package func store(
    _ secret: SecretSlice, service: [UInt8], account: [UInt8]
  ) throws -> Bool {
    try item(service, account).store(secret)
  }

  /// Removes a generic password.
  ///
  /// - Returns: True if there was one.
  /// - Throws: `ambiguous`, `damagedIndex`, `KeyringError`.
  package func remove(service: [UInt8], account: [UInt8]) throws -> Bool {
    try item(service, account).erase()
  }

  /// Returns the generic password of a service. The parts of a URL that may be secret are removed.
  private func item(_ service: [UInt8], _ account: [UInt8]?) -> ServiceItem {
    let isURL = ByteSearch.contains(service, Array("://".utf8))
    return ServiceItem(
      keyring: keyring, service: AttributeValue(text: isURL ? Endpoint.publicURL(service) : service),
      account: account.map { AttributeValue(text: $0) })
  }

  private func isExpired(_ record: ItemRecord) -> Bool {
    LoginItems.expiry(of: record).map { $0 < now.microseconds / 1_000_000 } == true
  }
}
