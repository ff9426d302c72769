package import KeyringModel

/// The items of a store by the names that people use for them.
///
/// Two items have the same name if their class, container, account and field are equal, and no other attribute of their
/// primary keys has different values: an item without a protocol, port or path has the name of one with them. A name on
/// the command line finds both.
package struct ItemsWithName {
  /// The part of a primary key that is equal for all items with a name.
  private struct Name: Hashable {
    let itemClass: ItemClass
    let values: [AttributeValue?]

    init(_ key: PrimaryKey) {
      itemClass = key.itemClass
      values = (Self.attributes(of: key.itemClass) + [.field]).map { key[$0] }
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
    let same = items[Name(key), default: []].filter { item in
      key.values.allSatisfy { name, value in item.key[name].map { $0 == value } ?? true }
    }
    return Set(same.map(\.group)).sorted()
  }

  /// Returns the attributes that are equal for all items with the name of an item.
  static func sharedAttributes(of key: PrimaryKey) -> [(name: AttributeName, value: AttributeValue)] {
    let names = Name.attributes(of: key.itemClass) + [.field]
    return key.values.filter { names.contains($0.name) }
  }
}
