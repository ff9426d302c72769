public import KeyringModel
public import Secrets

extension Keyring {
  /// How often a change is worked out anew because somebody else changed the item meanwhile.
  private static let attempts = 10

  /// Changes attributes of an item; its secret stays.
  ///
  /// The item is looked up again by its id, so of two writers the last one wins, whole. It is decrypted and sealed
  /// again only if its primary key changes. That happens before the store's lock is taken, because a dialog for a
  /// passphrase may stay open for long; when the item has changed meanwhile it is done again.
  ///
  /// - Returns: the record as it is now.
  /// - Throws: `KeyringError.itemNotFound` when it was removed meanwhile, `.itemExists` when another item has the
  ///   new primary key, `.itemDamaged` or `.bindingMismatch` when its file is not what the index says, `.busy`
  ///   also when others kept changing it, and as `add`.
  @discardableResult
  public func update(_ record: ItemRecord, _ changes: AttributeChanges) throws(KeyringError) -> ItemRecord {
    try requireTrust()
    for _ in 0..<Self.attempts {
      let base = try latest(record)
      let change = try ItemSealer(keyring: self).change(changes, to: base) { () throws(KeyringError) in
        try secret(for: base)
      }
      if let result = try apply(change, to: base) { return result }
    }
    throw .busy(holder: nil)
  }

  /// Replaces an item's secret, and changes attributes with it.
  ///
  /// It is sealed before the store's lock is taken, as for `update(_:_:)`.
  ///
  /// - Returns: the record as it is now, with a new revision.
  /// - Throws: as `update(_:_:)`.
  @discardableResult
  public func update(
    _ record: ItemRecord, _ changes: AttributeChanges = AttributeChanges(), secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    try requireTrust()
    for _ in 0..<Self.attempts {
      let base = try latest(record)
      let change = try ItemSealer(keyring: self).change(changes, to: base, secret: secret)
      if let result = try apply(change, to: base) { return result }
    }
    throw .busy(holder: nil)
  }

  /// Makes a change under the lock; `nil` when the item is not any more what the change was made for.
  private func apply(_ change: ItemChange, to base: ItemRecord) throws(KeyringError) -> ItemRecord? {
    try transaction { changes throws(KeyringError) in try changes.apply(change, to: base) }
  }

  /// The item as the index has it now: where the caller saw it, or anywhere else.
  private func latest(_ record: ItemRecord) throws(KeyringError) -> ItemRecord {
    for predicates in [[.path(record.path), .id(record.id)], [.id(record.id)]] as [[Predicate]] {
      if let found = try find(Query(predicates: predicates)).items.first { return found }
    }
    throw .itemNotFound
  }

  /// Nothing is sealed, and nobody asked for a passphrase, for a change that will be refused.
  func requireTrust() throws(KeyringError) {
    if let distrust { throw .policyNotTrusted(distrust) }
  }
}
