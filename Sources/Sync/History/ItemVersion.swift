package import KeyringModel

/// The changes of one commit to an item.
package struct ItemVersion: Equatable, Sendable {
  /// A kind of change, found by comparing the records before and after the commit.
  package enum Change: Equatable, Sendable {
    /// The item is new.
    case added
    /// The item already existed in the first commit of a shallow clone.
    case alreadyThere
    /// The item was deleted.
    case deleted
    /// The item was restored after it had been deleted.
    case broughtBack
    /// The secret was changed.
    case secret
    /// The same secret was encrypted again.
    case resealed
    /// Attributes that are not part of the item's name were changed, added or removed.
    case attributes([AttributeName])
    /// The item was renamed.
    case renamed(from: ItemPath)
    /// The item was moved to another group.
    case moved(fromGroup: String)
  }

  /// An item in a commit.
  package struct Past: Equatable, Sendable {
    /// The full name of the commit.
    package let commit: String
    /// The record of the item in the commit.
    package let record: ItemRecord
  }

  /// The commit that made the change.
  package let commit: HistoricalCommit
  /// The record after the commit; nil if the item was deleted.
  package let record: ItemRecord?
  /// The item before the commit, from the first parent that contains it.
  package let previous: Past?
  /// The differences from the previous version. There may be several.
  package internal(set) var changes: [Change]

  /// The record after the commit, or the last one before a deletion.
  package var lastRecord: ItemRecord? { record ?? previous?.record }
}

extension ItemVersion.Change {
  /// Returns the changes between two versions of an item; none if they are equal.
  package static func between(_ old: ItemRecord, _ new: ItemRecord) -> [Self] {
    var changes: [Self] = []
    let place = AttributeSchema.primaryKey(of: old.itemClass) + [.synchronizable]
    let isRenamed =
      old.itemClass != new.itemClass || place.contains { old.attributes[$0] != new.attributes[$0] }
    let isMoved = old.primaryKey != new.primaryKey && !isRenamed
    if isRenamed { changes.append(.renamed(from: old.path)) }
    if isMoved || (isRenamed && !old.group.utf8.elementsEqual(new.group.utf8)) {
      changes.append(.moved(fromGroup: old.group))
    }
    if old.revision != new.revision {
      changes.append(.secret)
    } else if old.sealed != new.sealed, old.group.utf8.elementsEqual(new.group.utf8) {
      // A change of the group also encrypts the secret again, so it is not reported as a change of its own.
      changes.append(.resealed)
    }
    let names = attributes(old, new, but: place)
    if !names.isEmpty { changes.append(.attributes(names)) }
    if changes.isEmpty, old != new { changes.append(.attributes(times(old, new))) }
    return changes
  }

  /// Returns the names of the attributes that differ, and of differing members that a newer version of Keytree wrote.
  private static func attributes(
    _ old: ItemRecord, _ new: ItemRecord, but place: [AttributeName]
  ) -> [AttributeName] {
    let known = Set(old.attributes.names + new.attributes.names).subtracting(place)
      .filter { old.attributes[$0] != new.attributes[$0] }
    let others = UnknownMembers(of: old).differences(from: UnknownMembers(of: new))
    return known.union(others.map { AttributeName($0) }).sorted()
  }

  /// Returns the names of the times that differ. Used if nothing else differs, which a merge can cause.
  private static func times(_ old: ItemRecord, _ new: ItemRecord) -> [AttributeName] {
    [.created, .modified, .secretModified].filter { old.value(of: $0) != new.value(of: $0) }
  }
}
