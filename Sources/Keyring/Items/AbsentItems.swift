internal import KeyringModel

/// Items that no search finds, and that show who may read the secret of an account: hidden and removed ones.
extension Keyring {
  /// Checks that the index contains all records of groups with fewer readers than a group. It is not signed, so a person who
  /// can push could remove lines from it. A merge and a clone build it anew, but plain git does not.
  ///
  /// Lists the folders of all items, unless all groups have the readers of the group.
  ///
  /// - Throws: `KeyringError.itemDamaged` with `notInIndex`; the errors of `find(_:)`, or a file error.
  package func requireCompleteIndex(for group: String) throws(KeyringError) {
    let readers = policy.groups[group] ?? []
    if readers == [trusted.signer] { return }
    func hasAllReaders(_ other: String) -> Bool {
      let others = policy.groups[other] ?? []
      return readers.allSatisfy(others.contains)
    }
    if policy.groups.keys.allSatisfy(hasAllReaders) { return }
    // The folders come first: an item that is added meanwhile has a line in the index that is read afterwards.
    let survey = try StoreSurvey(itemsOf: self)
    var all = Query()
    all.includesFields = true
    let known = Set(try index.findInFiles(all).items.filter { !$0.isLocal }.map(\.path))
    for files in survey.items where files.hasRecord && !known.contains(files.path) {
      guard let bytes = try ItemReader(keyring: self).readableRecord(at: files.path, isLocal: false) else {
        // It was removed meanwhile.
        continue
      }
      // The group of a record that cannot be read is not known.
      if let record = try? RecordFile(parsing: bytes).record, record.path == files.path,
        hasAllReaders(record.group)
      {
        continue
      }
      throw .itemDamaged(.path(files.path), .notInIndex)
    }
  }

  /// Returns the items that other people have removed from other groups, and that not all readers of a group could read.
  ///
  /// - Throws: A file error.
  package func removedItems(besides group: String) throws(KeyringError) -> [ItemRecord] {
    if policy.groups.count == 1 { return [] }
    let item = NewItem(itemClass: .genericPassword, attributes: Attributes(), group: group)
    return try memory.removedItems().filter { isElsewhere($0, for: item) }
  }

  /// Returns true if an item has the name of a new item, or may be for its account.
  func isOfAccount(_ record: ItemRecord, _ item: NewItem) -> Bool {
    let key = PrimaryKey(itemClass: item.itemClass, attributes: item.attributes, group: "")
    if !ItemsWithName.items([record], like: key).isEmpty { return true }
    guard let account = SimilarAccount(item.itemClass, item.attributes) else { return false }
    return SimilarAccount(record.itemClass, record.attributes)?.mayBeSame(as: account) == true
  }

  /// Remembers the items that a merge removes, moves or replaces by others.
  ///
  /// Only an item that this user could read tells who may read what they enter again, and one that everybody could read
  /// tells nothing.
  ///
  /// - Parameters:
  ///   - newFiles: The new content of each file of the store.
  ///   - old: The bytes of the records that the merge replaces, by path.
  /// - Throws: A file error.
  func remember(_ newFiles: [String: NewFile], replacing old: [String: [UInt8]]) throws(KeyringError) {
    if policy.groups.count == 1 { return }
    var new: [String: ItemRecord] = [:]
    for (path, file) in newFiles {
      guard case .bytes(let bytes) = file, StoreLayout.itemPath(ofFile: path) != nil else { continue }
      // An encrypted file is no record.
      new[path] = try? RecordFile(parsing: bytes).record
    }
    let present = Set(new.values.map(\.id))
    var (removed, ended): ([ItemMemory.Fact], [ItemPath]) = ([], [])
    for (path, bytes) in old.sorted(by: { $0.key < $1.key }) {
      // A record that cannot be read is not one of an item that this machine knows.
      guard let before = try? RecordFile(parsing: bytes).record else { continue }
      if let after = new[path], after.id == before.id, after.group.hasSameBytes(as: before.group) { continue }
      let readers = policy.groups[before.group] ?? []
      let isTelling =
        readers.contains(trusted.signer)
        && !policy.groups.values.allSatisfy { $0.allSatisfy(readers.contains) }
      if isTelling, !present.contains(before.id) {
        removed.append(.removed(before))
      } else {
        ended.append(before.path)
      }
    }
    try memory.end(ended)
    try memory.add(removed)
  }

  /// Forgets the items that a transaction of this user removes, moves or replaces by others.
  ///
  /// - Throws: A file error.
  func remember(ended paths: [ItemPath]) throws(KeyringError) {
    if policy.groups.count > 1 { try memory.end(paths) }
  }

  /// Remembers the secrets that this user has stored. They decide who may read the secrets of their accounts, also if
  /// another person has removed items of the accounts before.
  func remember(stored records: [ItemRecord]) {
    var facts: [ItemMemory.Fact] = []
    if policy.groups.count > 1, let removed = try? memory.removedItems(), !removed.isEmpty {
      // An import stores thousands of items.
      let (names, similar) = (ItemsWithName(records), SimilarItems(removed))
      var ended = removed.filter { old in
        let key = PrimaryKey(itemClass: old.itemClass, attributes: old.attributes, group: "")
        return !names.groups(ofItemsLike: key).isEmpty
      }.map(\.path)
      for record in records {
        guard let account = SimilarAccount(record.itemClass, record.attributes) else { continue }
        ended += similar.items(of: account).map(\.path)
      }
      facts += Set(ended).sorted().map { .ended($0) }
    }
    facts += records.filter { !$0.isLocal }.map { .known($0) }
    // The error does not matter: the secrets then count as those that others have stored.
    try? memory.add(facts)
  }
}
