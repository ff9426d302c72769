package import KeyringModel
internal import OpenPGP
package import Secrets

/// An item as the store's history has it: two files that were verified.
package struct PastItemFiles: Sendable {
  fileprivate let item: StoredItem

  /// The attributes of the item.
  package var record: ItemRecord { item.record }
}

extension Keyring {
  /// Verifies an item that the history has, as an item of the store is verified.
  ///
  /// - Parameters:
  ///   - file: The bytes of its record.
  ///   - message: The bytes of its encrypted file; nil when the history has none.
  ///   - path: Where it was.
  /// - Throws: `KeyringError.itemDamaged`, also for a record that nobody has signed who is in the item's group today;
  ///   `.bindingMismatch`, `.engine`.
  package func pastItem(
    _ file: [UInt8], message: [UInt8]?, at path: ItemPath
  ) throws(KeyringError) -> PastItemFiles {
    guard let item = try ItemReader(keyring: self).stored(file, message, at: path, isLocal: false) else {
      throw .itemNotFound
    }
    return PastItemFiles(item: item)
  }

  /// Decrypts an item that the history has.
  ///
  /// - Parameters:
  ///   - past: The item.
  ///   - query: The query that found it, whose conditions have to hold on the verified record; nil for none.
  /// - Throws: `KeyringError.itemDamaged`, `.bindingMismatch`, `.engine`.
  package func secret(
    of past: PastItemFiles, matching query: Query? = nil
  ) throws(KeyringError) -> SecretBytes {
    let reader = ItemReader(keyring: self)
    return try reader.secret(of: try reader.requireConditions(of: query, on: past.item))
  }

  /// Returns the record of an item of the store, verified as for the release of its secret.
  ///
  /// - Parameters:
  ///   - record: The item, as the index has it.
  ///   - query: The query that found it, whose conditions have to hold on the verified record; nil for none.
  /// - Throws: as `secret(for:matching:)`, but for what concerns decrypting.
  package func verifiedRecord(
    of record: ItemRecord, matching query: Query? = nil
  ) throws(KeyringError) -> ItemRecord {
    try ItemReader(keyring: self).item(for: record, matching: query).record
  }

  /// Puts back items that were deleted, in one transaction: their ids, attributes and secrets.
  ///
  /// An item whose file is not for exactly the members of its group today is encrypted again; any other needs nobody's
  /// key, and keeps its record as it was signed.
  ///
  /// - Parameter items: The items.
  /// - Returns: The items as they are now.
  /// - Throws: `KeyringError.itemExists` when an item has the place or the id of one; `.itemDamaged` when something lies
  ///   there that is not an item; `.shardDamaged`, `.policyNotTrusted`, `.busy`, `.engine`, or a file error.
  @discardableResult
  package func bringBack(_ items: [PastItemFiles]) throws(KeyringError) -> [ItemRecord] {
    let first = items.first?.record.path.text ?? ""
    let subject = items.count == 1 ? "bring back \(first)" : "bring back \(items.count) items"
    return try transaction(subject: subject) { changes throws(KeyringError) in
      var records: [ItemRecord] = []
      for past in items {
        let (item, file) = try restored(past.item)
        try changes.bringBack(item, file)
        records.append(item.record)
      }
      return records
    }
  }

  private func restored(
    _ item: StoredItem
  ) throws(KeyringError) -> (item: PreparedItem, file: RecordFile?) {
    if isSealed(item.message, to: item.record.group) {
      return (PreparedItem(record: item.record, message: item.message), item.verified.file)
    }
    let secret = try ItemReader(keyring: self).secret(of: item)
    return (try ItemSealer(keyring: self).prepare(item.record, secret: secret), nil)
  }
}
