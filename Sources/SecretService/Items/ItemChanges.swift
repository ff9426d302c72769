internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Secrets

/// A new item, or the new content of an existing one. It was checked.
struct ItemContent: Sendable {
  let label: String
  let attributes: ServiceAttributes
  let secret: SecretSlice
  let contentType: String
  /// True if a new item is stored on this machine only.
  let isLocal: Bool
}

/// The result of a change of an item.
enum ItemChange: Sendable {
  /// Nothing was written.
  case unchanged(ItemRecord)
  /// The item has a new record.
  case stored(ItemRecord)
  /// The item was removed.
  case removed(ItemAddress)
}

/// Reads secrets and changes items of the service, on a worker thread.
struct ItemChanges {
  /// The number of attempts if other processes make changes to the same items.
  private static let attempts = 5

  let keyring: Keyring
  private var search: ItemSearch { ItemSearch(keyring: keyring) }

  init(_ keyring: Keyring) { self.keyring = keyring }

  /// Decrypts the secret of an item.
  ///
  /// - Returns: The secret and its content type.
  /// - Throws: `noSuchObject`, or a `KeyringError`: a line of the index that differs from the signed record is damage.
  func secret(of address: ItemAddress) throws -> (secret: SecretSlice, contentType: String) {
    try attempt {
      let record = try search.item(address)
      return (try secret(of: record), record.serviceContentType)
    }
  }

  /// Creates an item, or replaces the newest one with the same attributes in the same group, one of this machine before
  /// others.
  ///
  /// - Parameter isUsual: True for the group of programs that name none. If another group has the item with the same
  ///   attributes, its secret is replaced there.
  /// - Throws: `failed` if a new item, or one of several items, would be stored for other readers; `KeyringError.shared` if
  ///   the item of another group, with fewer readers, may be for the same account.
  func create(_ new: ItemContent, in group: String, isUsual: Bool = true, replace: Bool) throws -> ItemChange
  {
    try attempt {
      try transaction { changes in
        changes.dependOnSearch()
        if isUsual, let other = try itemElsewhere(new, group, replace: replace) {
          return try update(other, label: new.label, new.secret, new.contentType, in: &changes)
        }
        let equal = try search.items(equalTo: new.attributes, in: group)
        if replace, let old = Self.replaceable(by: new, equal) {
          if isUsual { try keyring.requireReplaceable(old, insteadOf: group) }
          return try update(old, label: new.label, new.secret, new.contentType, in: &changes)
        }
        var item = Self.item(new, group)
        item.attributes[.account] = .string(ItemForm.account(of: new.attributes))
        if isUsual, equal.isEmpty { try keyring.requireNewAccount(item) }
        item.attributes[.account] = try freeAccount(
          for: item, new.attributes, equal: equal.count, in: &changes)
        return .stored(try changes.add(item, secret: new.secret.copy()))
      }
    }
  }

  /// Returns the item of another group that has the attributes of a new one; nil if there is none.
  ///
  /// - Throws: `KeyringError.shared`, `.team` if its secret cannot be replaced.
  private func itemElsewhere(_ new: ItemContent, _ group: String, replace: Bool) throws -> ItemRecord? {
    if keyring.policy.groups.count == 1 || new.isLocal { return nil }
    let equal = try search.items(equalTo: new.attributes, in: nil)
    let others = equal.filter { !$0.group.hasSameBytes(as: group) }
    guard let other = others.first else { return nil }
    guard equal.count == 1 else { throw KeyringError.shared(.severalGroups, equal.map(\.reference)) }
    try keyring.requireReplaceable(other, insteadOf: group)
    guard replace else { throw KeyringError.shared(.otherGroup(other.group), [other.reference]) }
    return other
  }

  /// Returns the item that a new one replaces, of those with the same attributes in the same group; nil for none.
  ///
  /// A secret of this machine never goes into an item that other machines receive: another member of the group may have
  /// added it for that purpose.
  private static func replaceable(by new: ItemContent, _ equal: [ItemRecord]) -> ItemRecord? {
    equal.first(where: \.isLocal) ?? (new.isLocal ? nil : equal.first)
  }

  /// Replaces the secret of an item.
  func setSecret(_ secret: SecretSlice, _ contentType: String, of address: ItemAddress) throws -> ItemChange {
    try attempt {
      try transaction { changes in
        try update(try search.item(address), label: nil, secret, contentType, in: &changes)
      }
    }
  }

  /// Replaces the label of an item.
  func setLabel(_ label: String, of address: ItemAddress) throws -> ItemChange {
    try attempt {
      try transaction { changes in
        let record = try search.item(address)
        let wanted = Self.changes(of: record, label: label, contentType: nil)
        if wanted.set.isEmpty, wanted.clear.isEmpty { return .unchanged(record) }
        return .stored(try changes.update(record, wanted))
      }
    }
  }

  /// Replaces the attributes of an item. It gets another primary key.
  func setAttributes(_ attributes: ServiceAttributes, of address: ItemAddress) throws -> ItemChange {
    try attempt {
      try transaction { changes in
        changes.dependOnSearch()
        let record = try search.item(address)
        if record.serviceAttributes == attributes { return .unchanged(record) }
        let others = try search.items(equalTo: attributes, in: record.group).filter { $0.id != record.id }
        var wanted = AttributeChanges(set: Self.attributes(attributes))
        wanted.clear = record.attributes.names.filter { name in
          name.text.utf8.starts(with: ItemForm.prefix.utf8) && wanted.set[name] == nil
        }
        let item = NewItem(itemClass: .genericPassword, attributes: wanted.set, group: record.group)
        wanted.set[.account] = try freeAccount(
          for: item, attributes, equal: others.count, besides: record, in: &changes)
        // The fields that the user has added keep the name of the item.
        var name = Attributes()
        for part in [AttributeName.service, .account] { name[part] = wanted.set[part] }
        for field in try Self.fields(of: record, in: &changes) {
          try changes.update(field, AttributeChanges(set: name))
        }
        return .stored(try changes.update(record, wanted))
      }
    }
  }

  /// Removes an item, with the fields that the user has added to it, unless other people can read it or a new one:
  /// programs remove an item when its password was rejected, too.
  ///
  /// - Parameter target: The group in which programs store new items.
  func delete(_ address: ItemAddress, insteadOf target: String = GroupName.default) throws -> ItemChange {
    try attempt {
      try transaction { changes in
        let record = try search.item(address)
        try keyring.requireRemovable([record], insteadOf: target)
        for field in try Self.fields(of: record, in: &changes) { try changes.delete(field) }
        try changes.delete(record)
        return .removed(address)
      }
    }
  }

  // MARK: Parts

  /// Returns the fields of an item in its own group. Items of several groups can have the same name, and a field in
  /// another group belongs to the item of that name there.
  private static func fields(
    of record: ItemRecord, in changes: inout WriteTransaction
  ) throws -> [ItemRecord] {
    try changes.fields(of: record).filter { $0.group.hasSameBytes(as: record.group) }
  }

  private func secret(of record: ItemRecord) throws -> SecretSlice {
    var predicates = [Predicate.equal(.group, .string(record.group))]
    for name in [AttributeName.service, .account] {
      predicates.append(.equal(name, record.attributes[name] ?? .string("")))
    }
    return SecretSlice(
      try keyring.secret(for: record, matching: Query(itemClass: .genericPassword, predicates: predicates)))
  }

  /// Replaces the label, the secret and the content type. Changes nothing if all are the same.
  private func update(
    _ record: ItemRecord, label: String?, _ secret: SecretSlice, _ contentType: String,
    in changes: inout WriteTransaction
  ) throws -> ItemChange {
    let wanted = Self.changes(of: record, label: label, contentType: contentType)
    if try !self.secret(of: record).isEqual(to: secret) {
      return .stored(try changes.update(record, wanted, secret: secret.copy()))
    }
    if wanted.set.isEmpty, wanted.clear.isEmpty { return .unchanged(record) }
    return .stored(try changes.update(record, wanted))
  }

  private static func changes(
    of record: ItemRecord, label: String?, contentType: String?
  ) -> AttributeChanges {
    var changes = AttributeChanges()
    func set(_ name: AttributeName, _ value: String, default: String) {
      let new: AttributeValue? = value == `default` ? nil : .string(value)
      if record.attributes[name] == new { return }
      if let new { changes.set[name] = new } else { changes.clear.append(name) }
    }
    if let label { set(.label, label, default: "") }
    if let contentType { set(ItemForm.contentType, contentType, default: ItemForm.defaultContentType) }
    return changes
  }

  private static func item(_ new: ItemContent, _ group: String) -> NewItem {
    var attributes = attributes(new.attributes)
    attributes[.kind] = ItemForm.marker
    if !new.label.isEmpty { attributes[.label] = .string(new.label) }
    if new.contentType != ItemForm.defaultContentType {
      attributes[ItemForm.contentType] = .string(new.contentType)
    }
    return NewItem(itemClass: .genericPassword, attributes: attributes, group: group, isLocal: new.isLocal)
  }

  /// Returns the attributes of the store for those of a client, and the service.
  private static func attributes(_ attributes: ServiceAttributes) -> Attributes {
    var result = Attributes()
    for pair in attributes.pairs { result[ItemForm.name(pair.name)] = .string(pair.value) }
    result[.service] = .string(ItemForm.service(of: attributes))
    return result
  }

  /// Returns an account that no other item of the group and service has.
  ///
  /// - Parameters:
  ///   - item: The item without an account.
  ///   - attributes: The attributes of the item as clients see them.
  ///   - equal: The number of other items with these attributes.
  ///   - own: The item itself, whose account counts as free; nil for a new item.
  private func freeAccount(
    for item: NewItem, _ attributes: ServiceAttributes, equal: Int, besides own: ItemRecord? = nil,
    in changes: inout WriteTransaction
  ) throws -> AttributeValue {
    let account = ItemForm.account(of: attributes)
    var number = equal + 1
    while true {
      var candidate = item
      let text = number == 1 ? account : "\(account)-\(number)"
      candidate.attributes[.account] = .string(text)
      let other = try changes.item(like: candidate)
      if other == nil || other?.id == own?.id { return .string(text) }
      number += 1
    }
  }

  // MARK: Attempts

  /// Makes changes in one transaction. The error of the body can be of any type.
  private func transaction(_ body: (inout WriteTransaction) throws -> ItemChange) throws -> ItemChange {
    try keyring.transaction { changes throws(KeyringError) -> Result<ItemChange, any Error> in
      do {
        return .success(try body(&changes))
      } catch let error as KeyringError {
        // The transaction is prepared again if another process has changed the item.
        throw error
      } catch {
        return .failure(error)
      }
    }.get()
  }

  /// Repeats an operation if another process has added, removed or moved the item concurrently.
  private func attempt<R>(_ body: () throws -> R) throws -> R {
    for _ in 1..<Self.attempts {
      do {
        return try body()
      } catch let error as KeyringError where error.isAboutConcurrentChange {
        continue
      }
    }
    return try body()
  }
}
