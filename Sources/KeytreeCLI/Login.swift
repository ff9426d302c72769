internal import Keyring
internal import KeyringModel

/// An item together with its fields.
struct Login {
  /// The item; or a field that has no item any more, which is listed by itself.
  let item: ItemRecord
  /// Its fields, sorted by their names.
  let fields: [ItemRecord]

  /// An item alone.
  init(_ item: ItemRecord) {
    self.item = item
    fields = []
  }

  /// An item with those of some records that are its fields.
  ///
  /// Where several groups have an item with the same primary key, each has the fields in its own group.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - records: All items and fields with its primary key, in any group.
  init(_ item: ItemRecord, among records: [ItemRecord]) {
    self.item = item
    let isAlone = !records.contains { $0.field == nil && $0.group != item.group }
    fields = records.filter { $0.field != nil && (isAlone || $0.group == item.group) }
      .sorted { ($0.field ?? "", $0.path) < ($1.field ?? "", $1.path) }
  }

  /// The item and its fields.
  var records: [ItemRecord] { [item] + fields }

  /// The names of its fields, each once.
  var fieldNames: [String] {
    fields.compactMap(\.field).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// What follows for the fields from a change of the item: they keep its primary key, and those in its group stay in
  /// its group.
  ///
  /// - Parameter changes: What changes about the item.
  func changes(followingItem changes: AttributeChanges) -> [(record: ItemRecord, changes: AttributeChanges)] {
    let key = Set(AttributeSchema.primaryKey(of: item.itemClass) + [.synchronizable])
    var set = Attributes()
    for entry in changes.set.entries where key.contains(entry.name) { set[entry.name] = entry.value }
    return fields.map { field in
      let group = field.group == item.group ? changes.group : nil
      return (field, AttributeChanges(set: set, clear: changes.clear.filter(key.contains), group: group))
    }
  }
}

extension ItemRecord {
  /// What an item and its fields have in common: the primary key without field and group.
  var loginPlace: PrimaryKey {
    PrimaryKey(itemClass: itemClass, attributes: attributes, group: "").withoutField
  }
}

extension CommandCall {
  /// The login of an item; a field has no fields.
  ///
  /// - Throws: `noMatchButDamage` when a damaged line of the index might be one of its fields; `keyring`.
  func login(of item: ItemRecord, in index: Index) throws -> Login {
    let (login, problems) = try findLogin(of: item, in: index)
    guard problems.isEmpty else { throw CommandError.noMatchButDamage("a field of \(item.reference.text)") }
    return login
  }

  /// The login of an item as far as the index can be read, and the damage met on the way.
  func findLogin(of item: ItemRecord, in index: Index) throws -> (Login, [IndexProblem]) {
    try findLogins(of: [item], in: index)[0]
  }

  /// The logins of items as far as the index can be read, and the damage met on the way.
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
  /// The query that finds an item with its fields, and those of other groups with the same primary key, which may have
  /// fields of their own; nil for what has no fields.
  fileprivate var loginQuery: Query? {
    AttributeSchema.applies(.field, to: itemClass) && field == nil ? .login(of: self) : nil
  }
}
