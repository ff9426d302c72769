package import KeyringModel

/// The rule for programs that store and remove secrets without naming a group, such as git, docker, a browser and
/// programs that use Apple's functions (threat T53).
///
/// - If there is an item of the account, in any group, a new secret replaces its secret in its own group.
/// - There is never a second item of the account in another group, which could have more readers. If there are several
///   already, or if this user is not in the group of the item, nothing is stored.
/// - A new item that may be for the account of another item, in another spelling, has no readers that the other lacks.
/// - A person who cannot read new items does not become a reader of a secret by storing an item of the account first, also
///   if this user has changed its attributes or readers since.
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
  ///   - isKnown: True if the program has used the secret of this item on this machine with success.
  ///   - target: The group of new items of the program.
  /// - Throws: `KeyringError.team` with `notInGroup`; `.shared` with `plantedBy` if the last version is signed by a person
  ///   who could read the new secret only because of it, and with `storedElsewhere` if such a person may have stored the
  ///   secret, because this user has not done so from this machine; the errors of reading a record.
  package func requireReplaceable(
    _ record: ItemRecord, isKnown: Bool = false, insteadOf target: String = GroupName.default
  ) throws(KeyringError) {
    try requireMembership(of: record)
    let readers = policy.groups[target] ?? []
    let others = (policy.groups[record.group] ?? []).filter { $0 != trusted.signer && !readers.contains($0) }
    if others.isEmpty || isKnown || record.isLocal { return }
    // Without a verified record, the change itself fails.
    guard let verified = try verifiedRecords(of: [record]).first else { return }
    let signer = verified.signer
    guard !others.contains(signer) else {
      throw .shared(.plantedBy(signer, name: policy.people[signer]?.name ?? ""), [record.reference])
    }
    // The signer may only have changed the attributes or the readers of an item that another person has added.
    guard ownSecrets.contains(verified.record) else {
      throw .shared(.storedElsewhere(readers: others.count), [record.reference])
    }
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
  /// - Throws: `KeyringError.team` with `notInGroup` if this user is not in the group of the only such item; `.shared` with
  ///   `similar`; `.shardDamaged` if the index is damaged; the errors of `find(_:)`.
  package func requireNewAccount(_ item: NewItem) throws(KeyringError) {
    // Also if the index is damaged, a secret that only this user can read needs no search.
    if policy.groups.count == 1 || item.isLocal || policy.groups[item.group] == [trusted.signer] { return }
    guard let account = SimilarAccount(item.itemClass, item.attributes) else { return }
    var others: [ItemRecord] = []
    for query in account.queries {
      let matches = try find(query)
      others += matches.items.filter { record in
        isElsewhere(record, for: item)
          && SimilarAccount(record.itemClass, record.attributes)?.mayBeSame(as: account) == true
      }
      if others.isEmpty, let problem = matches.problems.first {
        throw .shardDamaged(file: problem.file, matches.problems.map(\.problem))
      }
    }
    guard let other = others.first else { return }
    if others.count == 1 { try requireMembership(of: other) }
    throw .shared(.similar(item.itemClass, item.attributes, group: item.group), others.map(\.reference))
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
  /// - Throws: `KeyringError.shardDamaged` if the index is damaged, `.itemDamaged` with `notInIndex` for an item that the
  ///   index hides; the errors of `find(_:)`.
  package func items(ofOtherGroupsLike item: NewItem) throws(KeyringError) -> [ItemRecord] {
    if policy.groups.count == 1 || item.isLocal { return [] }
    let key = try item.primaryKey()
    let matches = try find(ItemsWithName.query(like: key))
    let others = ItemsWithName.items(matches.items, like: key).filter {
      !$0.group.hasSameBytes(as: item.group)
    }
    if !others.isEmpty { return others }
    if let problem = matches.problems.first {
      throw .shardDamaged(file: problem.file, matches.problems.map(\.problem))
    }
    try requireNothingHidden(item)
    return []
  }

  /// Checks that the records of other groups contain no item with the primary key of a new one. The index is not signed,
  /// so a person who can push could remove a line from it.
  private func requireNothingHidden(_ item: NewItem) throws(KeyringError) {
    var plain = item.attributes
    // An item that was added by hand often has none of these.
    for name in [AttributeName.protocol, .port, .path, .authenticationType, .securityDomain] {
      plain[name] = nil
    }
    for group in policy.groups.keys.sorted() where group != item.group {
      for attributes in [item.attributes, plain] {
        let path = ItemPath(PrimaryKey(itemClass: item.itemClass, attributes: attributes, group: group))
        if try Keyring.isThere(StoreLayout.recordFile(path, isLocal: false), in: tree) {
          throw .itemDamaged(.path(path), .notInIndex)
        }
      }
    }
  }
}
