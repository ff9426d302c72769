package import KeyringModel

/// The rule for programs that store and remove secrets without naming a group, such as git, docker, a browser and
/// programs that use Apple's functions (threat T53).
///
/// - If there is an item of the account, in any group, a new secret replaces its secret in its own group.
/// - There is never a second item of the account in another group, which could have more readers. If there are several
///   already, or if this user is not in the group of the item, nothing is stored.
/// - A new item that may be for the account of another item, in another spelling, has no readers that the other lacks.
/// - A person who cannot read new items does not become a reader of a secret by storing an item of the account first, also
///   if this user has changed its attributes or readers since, or knew an item that was removed or moved.
/// - A secret does not get more readers because another person has removed the item of its account from a group, or hides
///   it from the index.
/// - An item is removed only if no other person can read it, and none could read a new item: after a rejected password, a
///   program removes the item, and stores the new password as a new item.
extension Keyring {
  /// Returns true if other people can read an item.
  package func isShared(_ record: ItemRecord) -> Bool {
    readers(of: record) != [trusted.signer]
  }

  /// Checks that a program may remove items.
  ///
  /// - Parameters:
  ///   - records: The items.
  ///   - target: The group of new items of the program.
  /// - Throws: `KeyringError.shared` with `removal` if other people can read an item, and with `newReaders` if they could
  ///   read a new one; `.team` with `notInGroup`.
  package func requireRemovable(
    _ records: [ItemRecord], insteadOf target: String = GroupName.default
  ) throws(KeyringError) {
    for record in records {
      try requireMembership(of: record)
      if isShared(record) { throw .shared(.removal(group: record.group), [record.reference]) }
      guard policy.groups[target] == [trusted.signer] else {
        throw .shared(.newReaders(group: target), [record.reference])
      }
    }
  }

  /// Checks that a program may replace the secret of the only item of an account.
  ///
  /// - Parameters:
  ///   - record: The item.
  ///   - target: The group of new items of the program.
  /// - Throws: `KeyringError.team` with `notInGroup`; `.shared` with `plantedBy` if the last version is signed by a person
  ///   who could read the new secret only because of it, with `storedElsewhere` if such a person may have stored the secret,
  ///   and with `removed` if another person has removed an item of the account with fewer readers: unless this user has
  ///   stored the secret from this machine, or a program has used it here with success; the errors of reading a record.
  package func requireReplaceable(
    _ record: ItemRecord, insteadOf target: String = GroupName.default
  ) throws(KeyringError) {
    try requireMembership(of: record)
    if record.isLocal || policy.groups.count == 1 { return }
    let readers = policy.groups[target] ?? []
    let others = (policy.groups[record.group] ?? []).filter { $0 != trusted.signer && !readers.contains($0) }
    let item = NewItem(itemClass: record.itemClass, attributes: record.attributes, group: record.group)
    if others.isEmpty { return try requireNotRemoved(item, replacing: record) }
    // Without a verified record, the change itself fails.
    guard let verified = try verifiedRecords(of: [record]).first, !memory.knows(verified.record) else {
      return
    }
    let signer = verified.signer
    guard !others.contains(signer) else {
      throw .shared(.plantedBy(signer, name: policy.people[signer]?.name ?? ""), [record.reference])
    }
    // The signer may only have changed the attributes or the readers of an item that another person has added.
    throw .shared(.storedElsewhere(readers: others.count), [record.reference])
  }

  /// Remembers that a program has used the secret of an item on this machine with success.
  package func remember(used record: ItemRecord) {
    if record.isLocal || policy.groups.count == 1 || memory.knows(record) { return }
    // The error does not matter: the secret then counts as one that others have stored.
    try? memory.add([.known(record)])
  }

  /// Checks that a program may add an item: that no item of another group has its name, and that no item with fewer
  /// readers may be for the same account.
  ///
  /// - Throws: `KeyringError.team` with `notInGroup` if this user is not in the group of the only such item; `.shared` with
  ///   `otherGroup`; the errors of `items(ofOtherGroupsLike:)` and of `requireNewAccount(_:)`.
  package func requireNewName(_ item: NewItem) throws(KeyringError) {
    let others = try items(ofOtherGroupsLike: item)
    if let other = others.first {
      if others.count == 1 { try requireMembership(of: other) }
      throw .shared(.otherGroup(other.group), others.map(\.reference))
    }
    try requireNewAccount(item)
  }

  /// Checks that no item of another group may be for the account of a new item, unless all readers of the new item can
  /// read that one, too.
  ///
  /// - Throws: `.shared` with `similar`; `.shardDamaged` if the index is damaged; the errors of `find(_:)` and of
  ///   `requireNothingElsewhere(for:replacing:)`.
  package func requireNewAccount(_ item: NewItem) throws(KeyringError) {
    // Also if the index is damaged, a secret that only this user can read needs no search.
    guard canHaveOtherReaders(item) else { return }
    for query in SimilarAccount(item.itemClass, item.attributes)?.queries ?? [] {
      let matches = try find(query)
      let others = matches.items.filter { isElsewhere($0, for: item) && isOfAccount($0, item) }
      if !others.isEmpty {
        throw .shared(.similar(item.itemClass, item.attributes, group: item.group), others.map(\.reference))
      }
      if let problem = matches.problems.first {
        throw .shardDamaged(file: problem.file, matches.problems.map(\.problem))
      }
    }
    try requireNothingElsewhere(for: item)
  }

  /// Returns true if the policy lets people read a new item who may not read an item of another group.
  private func canHaveOtherReaders(_ item: NewItem) -> Bool {
    policy.groups.count > 1 && !item.isLocal && policy.groups[item.group] != [trusted.signer]
  }

  /// Checks that the index hides no item of another group, and that no other person has removed an item of an account from a
  /// group with fewer readers.
  ///
  /// - Parameters:
  ///   - item: The new item, or the new content of an item.
  ///   - record: The item whose secret is replaced; nil for a new item.
  /// - Throws: `.shared` with `removed`; `.itemDamaged` with `notInIndex`; a file error.
  package func requireNothingElsewhere(
    for item: NewItem, replacing record: ItemRecord? = nil
  ) throws(KeyringError) {
    guard canHaveOtherReaders(item) else { return }
    try requireCompleteIndex(for: item.group)
    try requireNotRemoved(item, replacing: record)
  }

  private func requireNotRemoved(_ item: NewItem, replacing record: ItemRecord?) throws(KeyringError) {
    guard canHaveOtherReaders(item) else { return }
    let removed = try removedItems(besides: item.group).filter { isOfAccount($0, item) }
    guard let other = removed.first else { return }
    if let record, try verifiedRecords(of: [record]).contains(where: { memory.knows($0.record) }) { return }
    throw .shared(
      .removed(item.itemClass, item.attributes, group: item.group, from: other.group),
      removed.map(\.reference))
  }

  /// Returns true if an item is in another group than a new one, and not all readers of the new one can read it; false for
  /// a new item that only this user can read.
  func isElsewhere(_ record: ItemRecord, for item: NewItem) -> Bool {
    let newReaders = item.isLocal ? [trusted.signer] : policy.groups[item.group] ?? []
    return newReaders != [trusted.signer] && !record.group.hasSameBytes(as: item.group)
      && !newReaders.allSatisfy(readers(of: record).contains)
  }

  /// Returns the people who can read an item.
  private func readers(of record: ItemRecord) -> [Fingerprint] {
    record.isLocal ? [trusted.signer] : policy.groups[record.group] ?? []
  }

  /// Returns the items that have the name of a new item and are in another group; none for an item that stays on this
  /// machine, which has no other readers.
  ///
  /// - Throws: `KeyringError.shardDamaged` if the index is damaged; the errors of `find(_:)`.
  package func items(ofOtherGroupsLike item: NewItem) throws(KeyringError) -> [ItemRecord] {
    if policy.groups.count == 1 || item.isLocal { return [] }
    let key = try item.primaryKey()
    let matches = try find(ItemsWithName.query(like: key))
    let others = ItemsWithName.items(matches.items, like: key).filter {
      !$0.group.hasSameBytes(as: item.group)
    }
    if others.isEmpty, let problem = matches.problems.first {
      throw .shardDamaged(file: problem.file, matches.problems.map(\.problem))
    }
    return others
  }
}
