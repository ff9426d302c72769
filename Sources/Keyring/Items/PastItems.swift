package import KeyringModel
internal import OpenPGP
package import Secrets

/// A version of an item from the history: a verified record and an encrypted file.
package struct HistoricalItem: Sendable {
  fileprivate let item: StoredItem

  /// The verified record.
  package var record: ItemRecord { item.record }
}

extension Keyring {
  /// Verifies a version of an item from the history, by the same rules as an item of the store.
  ///
  /// - Parameters:
  ///   - file: The bytes of its record.
  ///   - message: The bytes of its encrypted file; nil if the history has none.
  ///   - path: The path at which it was stored.
  /// - Throws: `KeyringError.itemDamaged`, also for a record whose signer is not in the item's group today;
  ///   `.bindingMismatch`, `.engine`.
  package func historicalItem(
    _ file: [UInt8], message: [UInt8]?, at path: ItemPath
  ) throws(KeyringError) -> HistoricalItem {
    guard let item = try ItemReader(keyring: self).stored(file, message, at: path, isLocal: false) else {
      throw .itemNotFound
    }
    return HistoricalItem(item: item)
  }

  /// Decrypts the secret of a version from the history.
  ///
  /// - Parameters:
  ///   - past: The version.
  ///   - query: The query that found it, whose conditions the verified record must fulfil; nil for none.
  /// - Throws: `KeyringError.itemDamaged`, `.bindingMismatch`, `.engine`.
  package func secret(
    of past: HistoricalItem, matching query: Query? = nil
  ) throws(KeyringError) -> SecretBytes {
    let reader = ItemReader(keyring: self)
    return try reader.secret(of: try reader.requireConditions(of: query, on: past.item))
  }

  /// Returns the record of an item of the store, verified as for the release of its secret.
  ///
  /// - Parameters:
  ///   - record: The item, as in the index.
  ///   - query: The query that found it, whose conditions the verified record must fulfil; nil for none.
  /// - Throws: The errors of `secret(for:matching:)`, except those of decryption.
  package func verifiedRecord(
    of record: ItemRecord, matching query: Query? = nil
  ) throws(KeyringError) -> ItemRecord {
    try ItemReader(keyring: self).item(for: record, matching: query).record
  }

  /// Restores deleted items in one transaction, with their ids, attributes and secrets.
  ///
  /// An item whose file is not encrypted to exactly the current members of its group is re-encrypted. Any other item
  /// is restored without a secret key and with its signed record.
  ///
  /// - Parameter items: The items.
  /// - Returns: The restored records.
  /// - Throws: `KeyringError.itemExists` if an item has the path or the id of one of them; `.itemDamaged` if files
  ///   that are not an item are at the path; `.shardDamaged`, `.policyNotTrusted`, `.busy`, `.engine`, or a file
  ///   error.
  @discardableResult
  package func bringBack(_ items: [HistoricalItem]) throws(KeyringError) -> [ItemRecord] {
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
    return (try ItemEncryptor(keyring: self).prepare(item.record, secret: secret), nil)
  }
}
