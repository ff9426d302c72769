internal import Encoding
internal import Keyring
internal import KeyringModel

/// Finds items of the service in the index. Nothing is decrypted.
struct ItemSearch {
  let keyring: Keyring

  /// Returns the served items that have some attributes, in all groups.
  ///
  /// - Parameters:
  ///   - attributes: The pairs that an item must have. It may have more.
  ///   - group: The group of the items; nil for all groups.
  ///   - service: The service of the items; nil for any.
  /// - Throws: `failed` if nothing was found and the index is damaged; the errors of `Keyring.find(_:)`.
  func items(
    with attributes: ServiceAttributes, in group: String? = nil, service: String? = nil
  ) throws -> [ItemRecord] {
    // The index cannot have such an attribute, and refuses a query for it.
    guard attributes.pairs.allSatisfy(ItemForm.canHave) else { return [] }
    var predicates = [Predicate.equal(.kind, ItemForm.marker)]
    for pair in attributes.pairs { predicates.append(.equal(ItemForm.name(pair.name), .string(pair.value))) }
    if let service { predicates.append(.equal(.service, .string(service))) }
    return try found(Query(itemClass: .genericPassword, predicates: predicates)).filter { record in
      record.isServed && (group.map { record.group.hasSameBytes(as: $0) } ?? true)
    }
  }

  /// Returns the items of a group with exactly these attributes, the newest first.
  func items(equalTo attributes: ServiceAttributes, in group: String) throws -> [ItemRecord] {
    try items(with: attributes, in: group, service: ItemForm.service(of: attributes))
      .filter { $0.serviceAttributes == attributes }
      .sorted { $0.modified > $1.modified }
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

  private func found(_ query: Query) throws -> [ItemRecord] {
    let matches = try keyring.find(query)
    // An empty answer makes programs create new keys.
    if matches.items.isEmpty, !matches.problems.isEmpty || matches.isIndexLost {
      throw SecretServiceError(.failed, "The index of the store is damaged.")
    }
    return matches.items
  }
}

extension SecretServiceError {
  static let noSuchItem = SecretServiceError(.noSuchObject, "There is no such item.")
  static let noSuchCollection = SecretServiceError(.noSuchObject, "There is no such collection.")
  static let noSuchObject = SecretServiceError(.noSuchObject, "There is no such object.")
}
