internal import Keyring
internal import KeyringModel

/// The order of search results, and the items that some searches do not find.
///
/// Another member of a group can add an item with any attributes, and most programs use the first result. So the items
/// that only this user can have added come first, and time decides only within one group.
struct SearchOrder {
  /// The place of an item among the results: lower places come first.
  struct Place: Comparable {
    fileprivate let level: Int
    /// The position of the collection among those of the same level.
    fileprivate let position: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.level, left.position) < (right.level, right.position)
    }
  }

  /// The attribute by which Chromium searches for its key, without a schema.
  private static let application = "application"

  private let positions: [String: Int]
  private let privateGroups: Set<String>
  private let main: String?

  /// Creates the order of the items of a keyring.
  ///
  /// - Parameters:
  ///   - groups: The groups of the user, sorted.
  ///   - keyring: The keyring, whose policy lists the members of the groups.
  ///   - main: The default collection; nil if there is none.
  init(_ groups: [String], in keyring: Keyring, default main: CollectionID?) {
    let members = keyring.policy.groups
    let sorted = groups.enumerated().sorted { left, right in
      (members[left.element]?.count ?? 0, left.offset) < (members[right.element]?.count ?? 0, right.offset)
    }
    positions = Dictionary(
      uniqueKeysWithValues: sorted.enumerated().map { ($0.element.element, $0.offset) })
    privateGroups = Set(groups.filter { members[$0] == [keyring.ownFingerprint] })
    self.main = if case .group(let name)? = main { name } else { nil }
  }

  /// Returns true if others can read an item, and so can have added it.
  func isShared(_ record: ItemRecord) -> Bool { !record.isLocal && !privateGroups.contains(record.group) }

  /// Returns the place of an item.
  func place(of record: ItemRecord) -> Place {
    let group = record.group
    let isMain = main.map { $0.hasSameBytes(as: group) } ?? false
    let level =
      if record.isLocal { 0 } else if privateGroups.contains(group) { 1 } else if isMain { 3 } else { 4 }
    return Place(level: level, position: isMain ? -1 : positions[group] ?? 0)
  }

  /// The place of the items in memory.
  static let session = Place(level: 2, position: 0)

  /// Returns true if a search does not find an item. The key of a browser, and other secrets that belong to one
  /// machine, are not taken from items that others can have added.
  ///
  /// - Parameters:
  ///   - record: An item that has the attributes of the search.
  ///   - attributes: The attributes of the search.
  ///   - local: The schemas whose items are stored on this machine only.
  func hides(_ record: ItemRecord, from attributes: ServiceAttributes, _ local: LocalState) -> Bool {
    guard isShared(record) else { return false }
    if attributes.count == 1, attributes[Self.application] != nil { return true }
    return [attributes[ItemForm.schema], record.serviceSchema].contains { schema in
      schema.map(local.isLocal) ?? false
    }
  }
}
