internal import KeyringModel
internal import Secrets

/// What a change to an item comes to, worked out from the item as it is, or was a moment ago.
enum ItemChange: Sendable {
  /// Everything is as it should be already.
  case nothing
  /// The item gets a new line; its sealed message stays as it is, and goes along when the item is to be kept elsewhere.
  case line(ItemRecord)
  /// The item is sealed again.
  case sealed(PreparedItem)
}

extension ItemSealer {
  /// Works out a change of attributes.
  ///
  /// - Parameters:
  ///   - changes: What the caller wants.
  ///   - old: The item.
  ///   - opened: Decrypts it; called only when the primary key changes, which is in the sealed header.
  /// - Throws: as `Keyring.update(_:_:)`.
  func change(
    _ changes: AttributeChanges, to old: ItemRecord, opened: () throws(KeyringError) -> SealedItem
  ) throws(KeyringError) -> ItemChange {
    try requireNoCopy(old)
    var new = try changes.applied(to: old)
    if new == old { return .nothing }
    new.modified = keyring.host.time(after: old)
    // What becomes a conflict copy is kept elsewhere, and knows it.
    if new.primaryKey == old.primaryKey, new.conflictOf == old.conflictOf { return .line(new) }
    // The same secret, so the same revision: that which the item says itself.
    let item = try opened()
    (new.revision, new.secretModified) = (item.header.revision, item.header.secretModified)
    return .sealed(try seal(new, secret: item.secret))
  }

  /// Works out a change of the secret, and of attributes with it.
  ///
  /// - Parameter revision: That of the secret, when another item has it already; nil for a new one.
  /// - Throws: as `Keyring.update(_:_:secret:)`.
  func change(
    _ changes: AttributeChanges, to old: ItemRecord, secret: borrowing SecretBytes, revision: Revision? = nil
  ) throws(KeyringError) -> ItemChange {
    try requireNoCopy(old)
    var new = try changes.applied(to: old)
    var generator = SystemRandomNumberGenerator()
    new.revision = revision ?? Revision(using: &generator)
    new.modified = keyring.host.time(after: old)
    new.secretModified = new.modified
    return .sealed(try seal(new, secret: secret))
  }
}

extension ItemSealer {
  /// The message of a conflict copy is that of a version as it was, and stays so.
  private func requireNoCopy(_ record: ItemRecord) throws(KeyringError) {
    if record.isConflictCopy { throw .conflictCopy(record.reference) }
  }
}

extension HostContext {
  /// The current time; later than an item's last change, also when the clock was put back.
  func time(after record: ItemRecord) -> Timestamp {
    max(clock(), Timestamp(microseconds: record.modified.microseconds + 1))
  }
}
