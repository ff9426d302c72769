internal import Encoding
internal import Keyring
internal import KeyringModel

/// The served items as clients know them from signals, compared with the store to find the changes.
struct KnownItems {
  /// The times of an item that clients know.
  struct Known {
    let created: Timestamp
    let modified: Timestamp
  }

  /// A difference.
  enum Difference {
    case created(ItemRecord)
    case changed(ItemRecord)
    case deleted(ItemAddress)
  }

  private(set) var groups: [String: [ItemID: Known]] = [:]

  /// Returns the known items of a group, the newest first.
  func items(of group: String) -> [(id: ItemID, known: Known)] {
    (groups[group] ?? [:]).map { ($0.key, $0.value) }.sorted { left, right in
      left.known.modified == right.known.modified
        ? left.id.hex < right.id.hex : left.known.modified > right.known.modified
    }
  }

  /// Replaces the known items by those of the store.
  ///
  /// - Parameters:
  ///   - records: The served items of the store.
  ///   - isComplete: False if the index is damaged. Items that are missing then count as unchanged.
  ///   - keptGroups: The groups of the user.
  /// - Returns: The differences.
  mutating func update(
    to records: [ItemRecord], isComplete: Bool, groups keptGroups: Set<String>
  ) -> [Difference] {
    var new: [String: [ItemID: Known]] = [:]
    for group in keptGroups { new[group] = [:] }
    var differences: [Difference] = []
    for record in records where keptGroups.contains(record.group) {
      // Ids are not unique in a store that was tampered with; the first item is used.
      guard new[record.group]?[record.id] == nil else { continue }
      new[record.group]?[record.id] = Known(created: record.created, modified: record.modified)
      // Clients read the items of a new group together.
      guard let old = groups[record.group] else { continue }
      switch old[record.id] {
      case nil: differences.append(.created(record))
      case let old? where old.modified != record.modified: differences.append(.changed(record))
      default: break
      }
    }
    for (group, items) in groups where keptGroups.contains(group) {
      for (id, known) in items where new[group]?[id] == nil {
        if isComplete {
          differences.append(.deleted(ItemAddress(.group(group), id)))
        } else {
          new[group]?[id] = known
        }
      }
    }
    groups = new
    return differences
  }

  /// Notes a change that this service has made.
  ///
  /// - Returns: The difference; nil if it was known.
  mutating func note(_ record: ItemRecord) -> Difference? {
    let old = groups[record.group]?[record.id]
    if let old, old.modified >= record.modified { return nil }
    groups[record.group, default: [:]][record.id] = Known(created: record.created, modified: record.modified)
    return old == nil ? .created(record) : .changed(record)
  }

  /// Notes that this service has removed an item.
  ///
  /// - Returns: The difference; nil if it was known.
  mutating func noteRemoved(_ address: ItemAddress) -> Difference? {
    guard case .group(let group) = address.collection, groups[group]?.removeValue(forKey: address.id) != nil
    else { return nil }
    return .deleted(address)
  }
}
