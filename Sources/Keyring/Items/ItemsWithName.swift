package import KeyringModel

/// The items of a store by the names that people use for them.
///
/// Two items have the same name if their class, container, account and field are equal, and no other attribute of their
/// primary keys has different values: an item without a protocol, port or path has the name of one with them. A name on
/// the command line finds both. The case of a host does not matter.
package struct ItemsWithName {
  /// The part of a primary key that is equal for all items with a name.
  private struct Name: Hashable {
    let itemClass: ItemClass
    let values: [AttributeValue?]

    init(_ key: PrimaryKey) {
      itemClass = key.itemClass
      values = (Self.attributes(of: key.itemClass) + [.field]).map { name in
        guard name == .server, let host = key[name]?.contentBytes else { return key[name] }
        return AttributeValue(text: HostName.lowerCase(host))
      }
    }

    /// The container and the account. A certificate or key has all attributes of its primary key in its name.
    static func attributes(of itemClass: ItemClass) -> [AttributeName] {
      switch itemClass {
      case .genericPassword, .internetPassword: itemClass.containerNames + [.account]
      default: AttributeSchema.primaryKey(of: itemClass)
      }
    }
  }

  private var items: [Name: [(key: PrimaryKey, group: String)]] = [:]

  /// Creates the list for some items.
  package init(_ records: [ItemRecord]) {
    for record in records {
      let key = PrimaryKey(itemClass: record.itemClass, attributes: record.attributes, group: "")
      items[Name(key), default: []].append((key, record.group))
    }
  }

  /// Returns the groups that have an item with the same name, sorted.
  ///
  /// - Parameter key: The primary key of an item. Its group is ignored.
  package func groups(ofItemsLike key: PrimaryKey) -> [String] {
    let same = items[Name(key), default: []].filter { Self.agree(key, $0.key) }
    return Set(same.map(\.group)).sorted()
  }

  /// Returns the items of a list with the same name as another one, in any group.
  ///
  /// - Parameter key: The primary key of that item. Its group is ignored.
  static func items(_ records: [ItemRecord], like key: PrimaryKey) -> [ItemRecord] {
    let name = Name(key)
    return records.filter { record in
      let other = PrimaryKey(itemClass: record.itemClass, attributes: record.attributes, group: "")
      return Name(other) == name && agree(key, other)
    }
  }

  /// Returns true if no attribute has different values in two keys with the same name.
  private static func agree(_ key: PrimaryKey, _ other: PrimaryKey) -> Bool {
    key.values.allSatisfy { name, value in
      // The name contains the host.
      name == .server || other[name].map { $0 == value } ?? true
    }
  }

  /// Returns the query that finds, among others, all items with the name of an item.
  ///
  /// - Parameter key: The primary key of the item. Its group is ignored.
  package static func query(like key: PrimaryKey) -> Query {
    let names = Name.attributes(of: key.itemClass) + [.field]
    var predicates: [Predicate] = []
    for (name, value) in key.values where names.contains(name) {
      // Values of other types can be equal in several forms.
      guard case .string = value else { continue }
      predicates.append(.equal(name, value, ignoresCase: name == .server))
    }
    var query = Query(itemClass: key.itemClass, predicates: predicates)
    query.includesFields = true
    return query
  }
}
