internal import Encoding
internal import Keyring
internal import KeyringModel

/// Finds items of the service in the index. Nothing is decrypted.
struct ItemSearch {
  let keyring: Keyring

  /// The found items, and whether there may be more that cannot be read.
  struct Found {
    var items: [ItemRecord]
    /// False if lines of the index are damaged.
    let isComplete: Bool

    /// Keeps the items that fulfil a condition.
    ///
    /// - Throws: `failed` if no item is left and the index is damaged: after an empty answer, programs create new keys.
    func filter(_ isWanted: (ItemRecord) -> Bool) throws -> [ItemRecord] {
      let wanted = items.filter(isWanted)
      guard !wanted.isEmpty || isComplete else {
        throw SecretServiceError(.failed, "The index of the store is damaged.")
      }
      return wanted
    }
  }

  /// Returns the served items that have some attributes.
  ///
  /// - Parameters:
  ///   - attributes: The pairs that an item must have. It may have more.
  ///   - service: The service of the items; nil for any.
  ///   - isWanted: A further condition, for example on the group.
  /// - Throws: `failed` if no such item was found and the index is damaged; the errors of `Keyring.find(_:)`.
  func items(
    with attributes: ServiceAttributes, service: String? = nil, where isWanted: (ItemRecord) -> Bool
  ) throws -> [ItemRecord] {
    // The index cannot have such an attribute, and refuses a query for it.
    guard attributes.pairs.allSatisfy(ItemForm.canHave) else { return [] }
    var predicates = [Predicate.equal(.kind, ItemForm.marker)]
    for pair in attributes.pairs { predicates.append(.equal(ItemForm.name(pair.name), .string(pair.value))) }
    if let service { predicates.append(.equal(.service, .string(service))) }
    return try found(Query(itemClass: .genericPassword, predicates: predicates)).filter { record in
      record.isServed && isWanted(record)
    }
  }

  /// Returns the items with exactly these attributes, the newest first.
  ///
  /// - Parameter group: The group of the items; nil for any.
  func items(equalTo attributes: ServiceAttributes, in group: String?) throws -> [ItemRecord] {
    try items(with: attributes, service: ItemForm.service(of: attributes)) { record in
      group.map(record.group.hasSameBytes) ?? true && record.serviceAttributes == attributes
    }.sorted { $0.modified > $1.modified }
  }

  /// Returns an item.
  ///
  /// - Throws: `noSuchObject`; `failed` if the store has several items with the id, or if the index is damaged.
  func item(_ address: ItemAddress) throws -> ItemRecord {
    guard case .group(let group) = address.collection else { throw SecretServiceError.noSuchItem }
    let found = try found(Query(itemClass: .genericPassword, predicates: [.id(address.id)])).filter {
      record in
      record.isServed && record.group.hasSameBytes(as: group)
    }
    guard let record = found.first else { throw SecretServiceError.noSuchItem }
    guard found.count == 1 else {
      throw SecretServiceError(.failed, "The store has several items with this id.")
    }
    return record
  }

  /// Returns all items with the marker, also those that are not served.
  func all() throws -> Found {
    try found(Query(itemClass: .genericPassword, predicates: [.equal(.kind, ItemForm.marker)]))
  }

  private func found(_ query: Query) throws -> Found {
    var query = query
    query.reportsAllDamage = true
    let matches = try keyring.find(query)
    return Found(items: matches.items, isComplete: matches.problems.isEmpty && !matches.isIndexLost)
  }
}

extension SecretServiceError {
  static let noSuchItem = SecretServiceError(.noSuchObject, "There is no such item.")
  static let noSuchCollection = SecretServiceError(.noSuchObject, "There is no such collection.")
  static let noSuchObject = SecretServiceError(.noSuchObject, "There is no such object.")
}
