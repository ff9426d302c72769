internal import Keyring
internal import KeyringModel
internal import Secrets

/// A generic password that is identified by service and account.
struct ServiceItem {
  /// The number of attempts if other processes make the same change.
  private static let attempts = 5

  let keyring: Keyring
  /// The service, compared exactly.
  let service: AttributeValue
  /// The account; nil for any, empty for none.
  let account: AttributeValue?

  /// Returns the first item in the order of creation.
  ///
  /// - Throws: `ambiguous` for items of several groups; `damagedIndex`, `KeyringError`.
  func find() throws -> ItemRecord? {
    let matches = try keyring.find(query)
    if matches.items.isEmpty, !matches.problems.isEmpty { throw CredentialError.damagedIndex }
    try matches.items.requireOneGroup()
    return matches.items.first
  }

  /// Decrypts the item. The verified record must have this service and account, too.
  ///
  /// - Throws: `KeyringError`.
  func secret(of record: ItemRecord) throws -> SecretSlice {
    SecretSlice(try keyring.secret(for: record, matching: query))
  }

  /// Stores a secret, replacing an existing one in its group.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - attributes: The attributes of a new item, in addition to service and account.
  /// - Returns: True if anything in the store has changed.
  /// - Throws: The errors of `find()`; `KeyringError.shared`, `.team`; `contended`.
  func store(_ secret: SecretSlice, _ attributes: Attributes = Attributes()) throws -> Bool {
    for _ in 0..<Self.attempts {
      do {
        if let record = try find() {
          try keyring.requireMembership(of: record)
          if try self.secret(of: record).isEqual(to: secret) { return false }
          try keyring.requireReplaceable(record)
          _ = try keyring.update(record, secret: secret.copy())
          return true
        }
        var attributes = attributes
        attributes[.service] = service
        attributes[.account] = account
        let item = NewItem(itemClass: .genericPassword, attributes: attributes)
        try keyring.requireNewName(item)
        _ = try keyring.add(item, secret: secret.copy())
        return true
      } catch let error as KeyringError where error.isAboutConcurrentChange {
        // Another process has stored, removed or moved the item concurrently. Try again.
        continue
      }
    }
    throw CredentialError.contended
  }

  /// Removes the item, unless other people can read it.
  ///
  /// - Returns: True if there was one.
  /// - Throws: The errors of `find()`; `KeyringError.shared`.
  func erase() throws -> Bool {
    guard let record = try find() else { return false }
    try keyring.requireRemovable([record])
    do {
      try keyring.delete([record])
      return true
    } catch KeyringError.itemNotFound {
      return false
    }
  }

  private var query: Query {
    var predicates = [Predicate.equal(.service, service)]
    if let account { predicates.append(.equal(.account, account)) }
    return Query(itemClass: .genericPassword, predicates: predicates)
  }
}
