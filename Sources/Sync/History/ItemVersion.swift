package import KeyringModel

/// The changes of one commit to an item.
package struct ItemVersion: Equatable, Sendable {
  /// A kind of change, found by comparing the records before and after the commit.
  package enum Change: Equatable, Sendable {
    /// The item is new.
    case added
    /// It was there already where the part of the history begins that this clone has.
    case alreadyThere
    /// It is gone.
    case deleted
    /// It is there again after it was gone.
    case broughtBack
    /// It has another secret.
    case secret
    /// The same secret was encrypted again.
    case resealed
    /// Attributes that are no part of its name have other values, or are new or gone.
    case attributes([AttributeName])
    /// It has another name.
    case renamed(from: ItemPath)
    /// Other people can read it.
    case moved(fromGroup: String)
  }

  /// An item as a commit has it.
  package struct Past: Equatable, Sendable {
    /// The full name of the commit.
    package let commit: String
    /// The item's record in it.
    package let record: ItemRecord
  }

  /// The commit that made the change.
  package let commit: HistoricalCommit
  /// The item as it is from then on; nil when it is gone.
  package let record: ItemRecord?
  /// The item as it was before, in the first of the commits before this one that has it.
  package let previous: Past?
  /// The differences from the version before; there may be several.
  package internal(set) var changes: [Change]

  /// The item as it is from then on, or as it last was.
  package var lastRecord: ItemRecord? { record ?? previous?.record }
}

extension ItemVersion.Change {
  /// Returns the changes between two versions of an item; none for equal ones.
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
      // A change of the group encrypts the secret again.
      changes.append(.resealed)
    }
    let names = attributes(old, new, but: place)
    if !names.isEmpty { changes.append(.attributes(names)) }
    if changes.isEmpty, old != new { changes.append(.attributes(times(old, new))) }
    return changes
  }

  /// The names of the attributes that differ, and of members that a newer version wrote.
  private static func attributes(
    _ old: ItemRecord, _ new: ItemRecord, but place: [AttributeName]
  ) -> [AttributeName] {
    let known = Set(old.attributes.names + new.attributes.names).subtracting(place)
      .filter { old.attributes[$0] != new.attributes[$0] }
    let others = UnknownMembers(of: old).differences(from: UnknownMembers(of: new))
    return known.union(others.map { AttributeName($0) }).sorted()
  }

  /// The names of the times that differ where nothing else does, as a merge may leave it.
  private static func times(_ old: ItemRecord, _ new: ItemRecord) -> [AttributeName] {
    [.created, .modified, .secretModified].filter { old.value(of: $0) != new.value(of: $0) }
  }
}
