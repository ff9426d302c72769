package import KeyringModel
internal import OpenPGP
package import Secrets

/// A version of an item from the history: a verified record and an encrypted file.
package struct HistoricalItem: Sendable {
  let item: StoredItem
  /// The keyring with the earlier policy by which alone the version is valid; nil if the accepted one accepts it.
  fileprivate let judge: Keyring?
  /// The subkey that has signed it, if that was revoked as compromised, or without a reason, since.
  package var compromised: Fingerprint?

  /// The verified record.
  package var record: ItemRecord { item.record }
  /// The person who has signed it.
  package var signer: Fingerprint { item.verified.signer }
}

extension Keyring {
  /// Verifies a version of an item from the history, by the same rules as an item of the store.
  ///
  /// - Parameters:
  ///   - file: The bytes of its record.
  ///   - message: The bytes of its encrypted file; nil if the history has none.
  ///   - path: The path at which it was stored.
  ///   - isPast: True if this keyring has an earlier policy than the accepted one.
  /// - Throws: `KeyringError.itemDamaged`, with `badSignature` for a record whose signer is not in the item's group;
  ///   `.bindingMismatch`, `.engine`.
  package func historicalItem(
    _ file: [UInt8], message: [UInt8]?, at path: ItemPath, isPast: Bool = false
  ) throws(KeyringError) -> HistoricalItem {
    guard let item = try ItemReader(keyring: self).stored(file, message, at: path, isLocal: false) else {
      throw .itemNotFound
    }
    return HistoricalItem(item: item, judge: isPast ? self : nil)
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
    let reader = ItemReader(keyring: past.judge ?? self)
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
  /// An item whose file is not encrypted to exactly the current members of its group is re-encrypted, and a record whose
  /// signer has left the group is signed anew. Any other item is restored without a secret key and with its signed
  /// record.
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
        let (item, file) = try restored(past)
        try changes.bringBack(item, file)
        records.append(item.record)
      }
      return records
    }
  }

  private func restored(
    _ past: HistoricalItem
  ) throws(KeyringError) -> (item: PreparedItem, file: RecordFile?) {
    let item = past.item
    if isSealed(item.message, to: item.record.group) {
      let prepared = PreparedItem(record: item.record, message: item.message)
      return (prepared, past.judge == nil ? item.verified.file : nil)
    }
    let secret = try ItemReader(keyring: past.judge ?? self).secret(of: item)
    return (try ItemEncryptor(keyring: self).prepare(item.record, secret: secret), nil)
  }
}
