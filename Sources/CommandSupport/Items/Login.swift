package import Keyring
package import KeyringModel

/// An item together with its fields.
package struct Login: Sendable {
  /// The item, or a field that is listed separately because its item no longer exists.
  package let item: ItemRecord
  /// Its fields, sorted by their names.
  package let fields: [ItemRecord]

  /// Creates a login of an item without fields.
  package init(_ item: ItemRecord) {
    self.item = item
    fields = []
  }

  /// Creates a login of an item with its fields among some records.
  ///
  /// If items in several groups have the same primary key, each one has the fields of its own group.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - records: all items and fields with its primary key, in any group.
  package init(_ item: ItemRecord, among records: [ItemRecord]) {
    self.item = item
    let isAlone = !records.contains { $0.field == nil && $0.group != item.group }
    fields = records.filter { $0.field != nil && (isAlone || $0.group == item.group) }
      .sorted { ($0.field ?? "", $0.path) < ($1.field ?? "", $1.path) }
  }

  /// The item and its fields.
  package var records: [ItemRecord] { [item] + fields }

  /// The names of its fields, each once.
  package var fieldNames: [String] {
    fields.compactMap(\.field).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// Returns the changes of the fields that follow from a change of the item. The fields get the primary key of the
  /// item, and those in its group move with it to a new group.
  ///
  /// - Parameter changes: the changes of the item.
  package func changes(followingItem changes: AttributeChanges) -> [(
    record: ItemRecord, changes: AttributeChanges
  )] {
    let key = Set(AttributeSchema.primaryKey(of: item.itemClass) + [.synchronizable])
    var set = Attributes()
    for entry in changes.set.entries where key.contains(entry.name) { set[entry.name] = entry.value }
    return fields.map { field in
      let group = field.group == item.group ? changes.group : nil
      return (field, AttributeChanges(set: set, clear: changes.clear.filter(key.contains), group: group))
    }
  }
}

extension CommandCall {
  /// Returns the login of an item. A field has no fields.
  ///
  /// - Throws: `noMatchButDamage` if a damaged line of the index might be one of its fields; `KeyringError`.
  package func login(of item: ItemRecord, in index: Index) throws -> Login {
    let (login, problems) = try findLogin(of: item, in: index)
    guard problems.isEmpty else { throw CommandError.noMatchButDamage("a field of \(name(of: item))") }
    return login
  }

  /// Returns the login of an item as far as the index can be read, and the damage found in the index.
  func findLogin(of item: ItemRecord, in index: Index) throws -> (Login, [IndexProblem]) {
    try findLogins(of: [item], in: index)[0]
  }

  /// Returns the logins of items as far as the index can be read, and the damage found in the index.
  ///
  /// - Returns: the login of each item, in the order of the items.
  func findLogins(of items: [ItemRecord], in index: Index) throws -> [(Login, [IndexProblem])] {
    let queries = items.map(\.loginQuery)
    var found = try index.find(queries.compactMap { $0 })[...]
    return zip(items, queries).map { item, query in
      guard query != nil, let matches = found.popFirst() else { return (Login(item), []) }
      return (Login(item, among: matches.items), matches.problems)
    }
  }
}

extension ItemRecord {
  /// The query that finds an item with its fields, and the items and fields of other groups with the same primary key;
  /// nil if the item cannot have fields.
  fileprivate var loginQuery: Query? {
    AttributeSchema.applies(.field, to: itemClass) && field == nil ? .login(of: self) : nil
  }
}
