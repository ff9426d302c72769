public import KeyringModel
internal import Secrets

/// Which version of an item stays when a conflict is settled.
public enum ConflictChoice: String, Sendable, CaseIterable {
  /// The version that has the place; the copy goes.
  case ours
  /// The version of the copy, which gets the place.
  case theirs
  /// Both: the copy becomes an item of its own.
  case both
}

extension Keyring {
  /// The conflict copies of the store, in the order of their creation.
  ///
  /// - Parameter item: The item that they are in conflict with; nil for those of all items.
  /// - Throws: as `find(_:)`.
  public func conflictCopies(of item: ItemRecord? = nil) throws(KeyringError) -> [ItemRecord] {
    let condition: Predicate =
      item.map { .equal(.conflictOf, .string($0.id.hex)) }
      ?? Predicate(subject: .attribute(.conflictOf), comparison: .exists)
    return try find(Query(predicates: [condition])).items.filter(\.isConflictCopy)
  }

  /// Settles a conflict, in one step.
  ///
  /// - Parameters:
  ///   - copy: The conflict copy.
  ///   - choice: What stays. Where the item that the copy is in conflict with is gone, `theirs` gives the copy its
  ///     place. With `both` the copy gets a number behind its account where its own place is taken.
  /// - Returns: The item that has the place now, and the one that was made for `both`; `ours` may leave none.
  /// - Throws: `KeyringError.itemExists` when `both` is wished and the item would have no place of its own, since
  ///   certificates and keys cannot get another name; `.itemNotFound` when the copy is gone; and as
  ///   `secret(for:matching:)` and `update(_:_:secret:)`.
  @discardableResult
  public func resolve(
    _ copy: ItemRecord, keeping choice: ConflictChoice
  ) throws(KeyringError) -> [ItemRecord] {
    let subject = "resolve \(copy.path.original.text)"
    for _ in 0..<Self.attempts {
      let (copy, holder) = try currentConflict(copy)
      if choice == .ours {
        // Else nothing of the item would stay.
        guard let holder else { throw .itemNotFound }
        try transaction(subject: subject) { changes throws(KeyringError) in try changes.delete(copy) }
        return [holder]
      }
      var version = NewItem(
        itemClass: copy.itemClass, attributes: copy.attributes, group: copy.group, isLocal: copy.isLocal)
      version.attributes[.conflictOf] = nil
      // Decrypted, and the passphrase asked for, before anybody has to wait.
      let sealed = try ItemReader(keyring: self).read(copy)
      if choice == .both { version = try withFreePlace(version) }
      let item = version
      let settled = try transaction(subject: subject) { changes throws(KeyringError) -> [ItemRecord]? in
        // Whoever changed one of the two meanwhile has not seen what would be put in its place.
        guard try changes.latest(copy) == copy else { return nil }
        if let holder, try changes.latest(holder) != holder { return nil }
        try changes.delete(copy)
        guard choice == .theirs, let holder else {
          let added = try changes.add(item, secret: sealed.secret, age: SecretAge(of: sealed.header))
          return (holder.map { [$0] } ?? []) + [added]
        }
        let gone = holder.attributes.names.filter { item.attributes[$0] == nil }
        let change = AttributeChanges(set: item.attributes, clear: gone, group: item.group)
        // The secret is no new one, and who could read it before is not to be forgotten.
        return [
          try changes.update(holder, change, secret: sealed.secret, revision: sealed.header.revision)
        ]
      }
      if let settled { return settled }
    }
    throw .busy(holder: nil)
  }

  private static let attempts = 3

  /// A conflict copy as it is now, and the item that it is in conflict with.
  private func currentConflict(
    _ copy: ItemRecord
  ) throws(KeyringError) -> (copy: ItemRecord, holder: ItemRecord?) {
    guard let id = copy.conflictOf,
      let now = try find(Query(predicates: [.id(copy.id)], limit: .one)).items.first
    else { throw .itemNotFound }
    return (now, try find(Query(predicates: [.id(id)], limit: .one)).items.first)
  }

  /// An item under a name that is free: its own, or one with a number behind the account.
  private func withFreePlace(_ item: NewItem) throws(KeyringError) -> NewItem {
    var candidate = item
    for number in 2...1000 {
      let path = try candidate.path()
      if try find(Query(predicates: [.path(path)], limit: .one)).items.isEmpty { return candidate }
      guard item.itemClass == .genericPassword || item.itemClass == .internetPassword else {
        throw .itemExists(.path(path))
      }
      let account = item.attributes[.account]?.contentBytes ?? []
      candidate.attributes[.account] = AttributeValue(text: account + Array(" \(number)".utf8))
    }
    throw .itemExists(.path(try item.path()))
  }
}
