package import Keyring
package import KeyringModel
package import Sync

/// Methods that also look for items in the history of a store.
extension CommandCall {
  /// Returns the repository of the store.
  ///
  /// - Throws: `GitError` with `noRepository` if the store has none.
  package func requireRepository() throws -> Repository {
    // Report a missing store before a missing repository.
    _ = try openIndex()
    guard let repository = try repository() else { throw GitError.noRepository(store: try storePath()) }
    return repository
  }

  /// Returns the one selected item that is in the store now, or nil if no item matches.
  ///
  /// - Throws: `ambiguous`, `KeyringError`.
  package func find(one selection: ItemSelection, in index: Index) throws -> ItemRecord? {
    let matches = try find(selection, in: index)
    explain(matches.statistics)
    return try one(of: matches.items, letsChoose: false)
  }

  /// Returns the one selected item, from the store or, if it is not there, from its history.
  ///
  /// - Returns: the current item, or the item as it was before the file with this name was removed. It may be in the
  ///   store under another name.
  /// - Throws: `noMatch`, `ambiguous`, `KeyringError`, `GitError`.
  package func findInHistory(
    _ selection: ItemSelection, in index: Index, _ repository: Repository
  ) throws -> ItemRecord {
    if let item = try find(one: selection, in: index) { return item }
    guard let item = try single(try removed(selection, repository).map(\.record)) else {
      throw try noMatch(selection, nameForMessages(0), in: index)
    }
    return item
  }

  /// Returns the items that the selection accepts as they were before their records were removed, each once.
  package func removed(
    _ selection: ItemSelection, _ repository: Repository
  ) throws -> [RemovedItems.Removal] {
    let removals = try removals(selection, repository)
    let places = Set(selection.selected(among: removals.map(\.record)).map(\.place))
    var ids: Set<ItemID> = []
    return removals.filter { places.contains($0.record.place) && ids.insert($0.record.id).inserted }
  }

  /// Returns the removals in the folders of the selected items, the latest first. They may concern other items, too.
  package func removals(
    _ selection: ItemSelection, _ repository: Repository
  ) throws -> [RemovedItems.Removal] {
    try RemovedItems(below: selection.folders, in: repository).removals
  }

  /// Returns the single item of a list, or nil if the list is empty.
  ///
  /// - Throws: `ambiguous` with the candidates, by their ids if they had the same name.
  package func single(_ records: [ItemRecord]) throws -> ItemRecord? {
    guard records.count > 1 else { return records.first }
    let hasNames = Set(records.map(\.path)).count == records.count
    throw CommandError.ambiguous(
      nameForMessages(0),
      candidates: hasNames ? names(of: records) : records.map { ItemReference.id($0.id).text })
  }
}

extension ItemSelection {
  /// Returns the folders with the files of the items that a name of some classes can select.
  package static func folders(
    _ classes: [ItemClass], _ name: ItemName?, _ reading: ItemNameReading?
  ) -> [String] {
    let items = StoreLayout.itemsFolder(isLocal: false)
    switch name {
    case .reference(.path(let path)): return ["\(items)/\(path.itemClass.rawValue)/\(path.container)"]
    case .named:
      return classes.map { itemClass in
        "\(items)/\(itemClass.rawValue)/\(ItemPath.container(showing: reading?.container ?? [], in: itemClass))"
      }
    case nil: return classes.map { "\(items)/\($0.rawValue)" }
    case .reference(.id), .id: return [items]
    }
  }
}
