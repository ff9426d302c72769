public import KeyringModel
public import Secrets

extension Keyring {
  /// How often a change is worked out before the lock is taken, when others keep changing the item meanwhile.
  private static let attempts = 3

  /// Changes attributes of an item; its secret stays.
  ///
  /// The item is looked up again by its id, so of two writers the last one wins, whole. It is decrypted and sealed
  /// again only if its primary key changes. That happens before the store's lock is taken, because a dialog for a
  /// passphrase may stay open for long; when the item has changed meanwhile it is done again, and after three times
  /// under the lock: by then the passphrase was given.
  ///
  /// - Returns: the record as it is now.
  /// - Throws: `KeyringError.itemNotFound` when it was removed meanwhile, `.itemExists` when another item has the
  ///   new primary key, `.itemDamaged` or `.bindingMismatch` when its file is not what the index says, and as
  ///   `add`.
  @discardableResult
  public func update(_ record: ItemRecord, _ changes: AttributeChanges) throws(KeyringError) -> ItemRecord {
    try requireTrust()
    for _ in 0..<Self.attempts {
      let base = try latest(record)
      let change = try ItemSealer(keyring: self).change(changes, to: base) { () throws(KeyringError) in
        try ItemReader(keyring: self).read(base)
      }
      if let result = try apply(change, to: base) { return result }
    }
    return try transaction { staged throws(KeyringError) in try staged.update(record, changes) }
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
    return try transaction { staged throws(KeyringError) in
      try staged.update(record, changes, secret: secret)
    }
  }

  /// Replaces the secret of an item unless somebody else has replaced it.
  ///
  /// It is sealed before the store's lock is taken, as for `update(_:_:)`.
  ///
  /// - Parameters:
  ///   - record: the item with the revision that the new secret is made from.
  ///   - secret: the new secret.
  /// - Returns: the record as it is now; nil, and nothing is done, when the item has another revision or is gone.
  /// - Throws: as `update(_:_:)`, but for `itemNotFound`.
  public func replaceSecret(
    of record: ItemRecord, with secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord? {
    try requireTrust()
    let sealer = ItemSealer(keyring: self)
    while true {
      do throws(KeyringError) {
        let base = try latest(record)
        guard base.revision == record.revision else { return nil }
        let change = try sealer.change(AttributeChanges(), to: base, secret: secret)
        // Only a change of the attributes alone leads to another round.
        if let result = try apply(change, to: base) { return result }
      } catch .itemNotFound {
        return nil
      }
    }
  }

  /// Removes items, all or none, where somebody may be replacing their secrets at the same time.
  ///
  /// - Parameters:
  ///   - records: the items with the secrets that the caller means.
  ///   - ifUnchanged: whether nothing is removed when one of them has another secret by now.
  /// - Returns: whether they were removed.
  /// - Throws: as `delete(_:)`.
  package func delete(_ records: [ItemRecord], ifUnchanged: Bool) throws(KeyringError) -> Bool {
    try transaction { changes throws(KeyringError) in
      for record in records where ifUnchanged {
        guard try changes.latest(record).revision == record.revision else { return false }
      }
      for record in records { try changes.delete(record) }
      return true
    }
  }

  /// Makes a change under the lock; `nil` when the item is not any more what the change was made for.
  private func apply(_ change: ItemChange, to base: ItemRecord) throws(KeyringError) -> ItemRecord? {
    try transaction { changes throws(KeyringError) in try changes.apply(change, to: base) }
  }

  /// The item as the index has it now: where the caller saw it, or anywhere else.
  private func latest(_ record: ItemRecord) throws(KeyringError) -> ItemRecord {
    for predicates in [[.path(record.path), .id(record.id)], [.id(record.id)]] as [[Predicate]] {
      if let found = try index.findInFiles(Query(predicates: predicates)).items.first { return found }
    }
    throw .itemNotFound
  }

  /// Nothing is sealed, and nobody asked for a passphrase, for a change that will be refused.
  func requireTrust() throws(KeyringError) {
    try trusted.requireMembership()
  }
}
