internal import Keyring
internal import KeyringModel
internal import Sync

/// Items that are looked for in the history of a store as well.
extension CommandCall {
  /// The repository of the store.
  ///
  /// - Throws: `git` with `noRepository` when it uses none.
  func requireRepository() throws -> Repository {
    // Whether there is a store at all has to be known first.
    _ = try openIndex()
    guard let repository = try repository() else { throw GitError.noRepository(store: try storePath()) }
    return repository
  }

  /// The one item that is meant and that the store has now; nil when it has none.
  ///
  /// - Throws: `ambiguous`, `keyring`.
  func find(one selection: ItemSelection, in index: Index) throws -> ItemRecord? {
    do {
      return try findOne(selection, in: index)
    } catch CommandError.noMatch, CommandError.noMatchButDamage {
      return nil
    }
  }

  /// The one item that is meant, in the store or, when it is not there, in its history.
  ///
  /// - Returns: the item as it is, or as it was before the file with this name went away. It may be in the store under
  ///   another name.
  /// - Throws: `noMatch`, `ambiguous`, `keyring`, `git`.
  func findInHistory(
    _ selection: ItemSelection, in index: Index, _ repository: Repository
  ) throws -> ItemRecord {
    if let item = try find(one: selection, in: index) { return item }
    guard let item = try settleOne(try removed(selection, repository).map(\.record)) else {
      throw CommandError.noMatch(nameForMessages(0))
    }
    return item
  }

  /// Returns the items that are meant by what they were before their records were removed; each once.
  func removed(
    _ selection: ItemSelection, _ repository: Repository
  ) throws -> [RemovedItems.Removal] {
    var ids: Set<ItemID> = []
    return try removals(selection, repository).filter {
      selection.accepts($0.record) && ids.insert($0.record.id).inserted
    }
  }

  /// Returns what was removed in the folders of the items that are meant, the last one first; other items as well.
  func removals(
    _ selection: ItemSelection, _ repository: Repository
  ) throws -> [RemovedItems.Removal] {
    try RemovedItems(below: selection.folders, in: repository).removals
  }

  /// The one of some items that is meant; nil when there is none.
  ///
  /// - Throws: `ambiguous` with the candidates, by their ids where they had the same name.
  func settleOne(_ records: [ItemRecord]) throws -> ItemRecord? {
    guard records.count > 1 else { return records.first }
    let hasNames = Set(records.map(\.path)).count == records.count
    throw CommandError.ambiguous(
      nameForMessages(0),
      candidates: records.map { hasNames ? $0.reference.text : ItemReference.id($0.id).text })
  }
}

extension ItemSelection {
  /// The folders in which the items of some classes that a name stands for have their files.
  static func folders(_ classes: [ItemClass], _ name: ItemName?) -> [String] {
    let items = StoreLayout.itemsFolder(isLocal: false)
    switch name {
    case .reference(.path(let path)): return ["\(items)/\(path.itemClass.rawValue)/\(path.container)"]
    case .named(_, let container, _):
      return classes.map { "\(items)/\($0.rawValue)/\(ItemPath.container(showing: container, in: $0))" }
    case nil: return classes.map { "\(items)/\($0.rawValue)" }
    case .reference(.id), .id: return [items]
    }
  }
}
