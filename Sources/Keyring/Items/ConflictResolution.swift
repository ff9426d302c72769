public import KeyringModel
package import Secrets

/// Which version of an item stays when a conflict is resolved.
public enum ConflictChoice: String, Sendable, CaseIterable {
  /// The version that has the place; the copy goes.
  case ours
  /// The version of the copy, which gets the place.
  case theirs
  /// Both: the copy becomes an item of its own.
  case both
}

extension Keyring {
  /// Resolves a conflict, in one step; nothing is decrypted.
  ///
  /// - Parameters:
  ///   - copy: The conflict copy.
  ///   - choice: What stays. Where the item that the copy is in conflict with is gone, `theirs` gives the copy its
  ///     place. With `both` the copy gets a number behind its account where its own place is taken.
  /// - Returns: The item that has the place now, and the one that was made for `both`; `ours` may leave none.
  /// - Throws: `KeyringError.itemExists` when `both` is wished and the item would have no place of its own, since
  ///   certificates and keys cannot get another name; `.itemNotFound` when the copy is gone; and as
  ///   `secret(for:matching:)` and `update(_:_:)`.
  @discardableResult
  public func resolve(
    _ copy: ConflictCopy, keeping choice: ConflictChoice
  ) throws(KeyringError) -> [ItemRecord] {
    let holder = try holder(of: copy)
    return try transaction(subject: "resolve \(copy.record.path.text)") { changes throws(KeyringError) in
      if choice == .ours {
        // Else nothing of the item would stay.
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
      if choice == .theirs || holder == nil {
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

  /// Keeps a secret that was made for an item as a conflict copy of it, since somebody else has changed the item.
  ///
  /// - Parameters:
  ///   - record: The item with the revision that the secret was made from.
  ///   - secret: The secret.
  /// - Returns: The item as the copy has it.
  /// - Throws: as `update(_:_:secret:)`.
  package func keepAsConflictCopy(
    _ record: ItemRecord, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    var generator = SystemRandomNumberGenerator()
    var version = record
    version.revision = Revision(using: &generator)
    version.modified = host.time(after: record)
    version.secretModified = version.modified
    let item = try ItemSealer(keyring: self).prepare(version, secret: secret)
    return try transaction(subject: "keep a version of \(record.path.text)") { changes throws(KeyringError) in
      changes.put(item, replacing: nil)
      return item.record
    }
  }

  /// The item that a conflict copy is in conflict with: the one with its id, else the one that has its place.
  ///
  /// - Throws: as `find(_:)`.
  package func holder(of copy: ConflictCopy) throws(KeyringError) -> ItemRecord? {
    for predicate in [Predicate.id(copy.record.id), .path(copy.record.path)] {
      guard let line = try find(Query(predicates: [predicate], limit: .one)).items.first else { continue }
      // A line of the index alone does not make an item the holder.
      if try verifiedRecords(of: [line]).first?.record == line { return line }
    }
    return nil
  }

  /// An item under a name that is free: its own, or one with a number behind the account.
  private func withFreePlace(
    _ record: ItemRecord, in changes: inout Changes
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
