package import KeyringModel
package import Secrets

/// The version of an item that remains when a conflict is resolved.
package enum ConflictChoice: String, Sendable, CaseIterable {
  /// The version that is at the item's path. The copy is removed.
  case item
  /// The version of the copy, which moves to the item's path. Its secret counts as changed now.
  case copy
  /// Both. The copy becomes a separate item.
  case both
}

extension Keyring {
  /// Resolves a conflict in one transaction, without decrypting anything.
  ///
  /// - Parameters:
  ///   - copy: The conflict copy.
  ///   - choice: The version to keep. If the conflicting item no longer exists, `copy` puts the copy at its own
  ///     path. With `both`, a number is appended to the copy's account if its path is taken.
  /// - Returns: The item that is at the path now, followed by the item created for `both`.
  /// - Throws: `KeyringError.itemExists` if `both` was chosen and no path is free, since certificates and keys cannot
  ///   be renamed; `.itemNotFound` if the copy no longer exists, or if `item` was chosen and the conflicting item no
  ///   longer exists; and the errors of `secret(for:matching:)` and `update(_:_:)`.
  @discardableResult
  package func resolve(
    _ copy: ConflictCopy, keeping choice: ConflictChoice
  ) throws(KeyringError) -> [ItemRecord] {
    try resolve(copy, keeping: choice, asAdmin: false)
  }

  /// Resolves a conflict like `resolve(_:keeping:)`.
  ///
  /// - Parameter asAdmin: True to let an admin remove a copy although they are not in the group of one of the versions.
  ///   If nobody is in the groups of both, no other person could resolve the conflict.
  package func resolve(
    _ copy: ConflictCopy, keeping choice: ConflictChoice, asAdmin: Bool
  ) throws(KeyringError) -> [ItemRecord] {
    let holder = try holder(of: copy)
    for version in [copy.record, holder].compactMap({ $0 }) {
      try requireMembership(of: version, orAdmin: asAdmin && choice == .item)
    }
    return try transaction(subject: "resolve \(copy.record.path.text)") { changes throws(KeyringError) in
      if choice == .item {
        // Removing the copy would remove the last version of the item.
        guard let holder else { throw .itemNotFound }
        for file in copy.files { changes.removeFile(file) }
        return [holder]
      }
      let version = try storedItem(of: copy)
      try ItemReader(keyring: self).requireSignerAmongReaders(of: version)
      for file in copy.files { changes.removeFile(file) }
      var record = version.record
      record.modified = host.time(after: record)
      if let holder { record.modified = max(record.modified, host.time(after: holder)) }
      if choice == .copy || holder == nil {
        // The choice is a change of the secret, so that the version of the holder is the older one.
        if let holder, holder.revision != record.revision { record.secretModified = record.modified }
        if let holder { (record.id, record.created) = (holder.id, holder.created) }
        return [try changes.replace(holder, with: PreparedItem(record: record, message: version.message))]
      }
      if holder?.id == record.id {
        var generator = SystemRandomNumberGenerator()
        record.id = ItemID(using: &generator)
      }
      record = try withFreePlace(record, in: &changes)
      let added = try changes.replace(nil, with: PreparedItem(record: record, message: version.message))
      return (holder.map { [$0] } ?? []) + [added]
    }
  }

  /// Stores a secret as a conflict copy, because the item that it was meant for has changed concurrently.
  ///
  /// - Parameters:
  ///   - record: The item, with the revision on which the secret is based.
  ///   - secret: The secret.
  /// - Returns: The record of the conflict copy.
  /// - Throws: The errors of `update(_:_:secret:)`.
  package func keepAsConflictCopy(
    _ record: ItemRecord, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    var generator = SystemRandomNumberGenerator()
    var version = record
    version.revision = Revision(using: &generator)
    version.modified = host.time(after: record)
    version.secretModified = version.modified
    let item = try ItemEncryptor(keyring: self).prepare(version, secret: secret)
    return try transaction(subject: "keep a version of \(record.path.text)") { changes throws(KeyringError) in
      changes.put(item, replacing: nil)
      return item.record
    }
  }

  /// Returns the item that a conflict copy conflicts with: the item with the same id, otherwise the item at the same
  /// path.
  ///
  /// - Throws: The errors of `find(_:)` and of verifying a record.
  package func holder(of copy: ConflictCopy) throws(KeyringError) -> ItemRecord? {
    for predicate in [Predicate.id(copy.record.id), .path(copy.record.path)] {
      guard let line = try find(Query(predicates: [predicate], limit: .one)).items.first else { continue }
      // The index is not signed, so the record must be verified as well.
      if try verifiedRecords(of: [line]).first?.record == line { return line }
    }
    return nil
  }

  /// Returns an item whose path is free: the given one, or a copy of it with a number appended to the account.
  private func withFreePlace(
    _ record: ItemRecord, in changes: inout WriteTransaction
  ) throws(KeyringError) -> ItemRecord {
    var candidate = record
    for number in 2...1000 {
      let item = NewItem(
        itemClass: candidate.itemClass, attributes: candidate.attributes, group: candidate.group)
      if try changes.item(like: item) == nil { return candidate }
      guard record.itemClass == .genericPassword || record.itemClass == .internetPassword else { break }
      let account = record.attributes[.account]?.contentBytes ?? []
      candidate.attributes[.account] = AttributeValue(text: account + Array(" \(number)".utf8))
    }
    throw .itemExists(record.reference)
  }
}
