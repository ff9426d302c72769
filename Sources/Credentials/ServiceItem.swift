internal import Keyring
internal import KeyringModel
internal import Secrets

/// A generic password that a program knows by service and account.
struct ServiceItem {
  /// The number of attempts if other processes make the same change.
  private static let attempts = 5

  let keyring: Keyring
  /// The service, compared as it is.
  let service: AttributeValue
  /// The account; nil for any, empty for none.
  let account: AttributeValue?

  /// The first item in the order of creation.
  ///
  /// - Throws: `ambiguous` for items of several groups; `damagedIndex`, `KeyringError`.
  func find() throws -> ItemRecord? {
    let matches = try keyring.find(query)
    if matches.items.isEmpty, !matches.problems.isEmpty { throw CredentialError.damagedIndex }
    try matches.items.requireOneGroup()
    return matches.items.first
  }

  /// Decrypts the item; that it has this service and account has to hold in the item itself.
  ///
  /// - Throws: `KeyringError`.
  func secret(of record: ItemRecord) throws -> SecretSlice {
    SecretSlice(try keyring.secret(for: record, matching: query))
  }

  /// Stores a secret, in place of the one that is there.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - attributes: What a new item has besides service and account.
  /// - Returns: Whether anything in the store has changed.
  /// - Throws: as `find()`; `contended`.
  func store(_ secret: SecretSlice, _ attributes: Attributes = Attributes()) throws -> Bool {
    for _ in 0..<Self.attempts {
      do {
        if let record = try find() {
          if try self.secret(of: record).isEqual(to: secret) { return false }
          _ = try keyring.update(record, secret: secret.copy())
          return true
        }
        var attributes = attributes
        attributes[.service] = service
        attributes[.account] = account
        let item = NewItem(itemClass: .genericPassword, attributes: attributes)
        _ = try keyring.add(item, secret: secret.copy())
        return true
      } catch let error as KeyringError where error.isAboutConcurrentChange {
        // Another process has stored, removed or moved it in the meantime: look again.
        continue
      }
    }
    throw CredentialError.contended
  }

  /// Removes the item.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: as `find()`.
  func erase() throws -> Bool {
    guard let record = try find() else { return false }
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
