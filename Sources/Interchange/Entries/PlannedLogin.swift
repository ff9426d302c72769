package import KeyringModel
package import Secrets

/// One entry of another program as a login: an item and its fields. An entry may consist of fields alone.
package struct PlannedLogin: Sendable {
  /// The item and then its fields, or fields alone. All have the same primary key except for the name of the field.
  package var items: [PlannedItem]
  /// The names of the fields; nil until the first field is added.
  private var fieldNames: FieldNames?

  /// Creates a login with an item.
  init(_ item: PlannedItem) { items = [item] }

  /// Creates a login without an item: a seed or a note alone.
  ///
  /// - Parameters:
  ///   - item: the public attributes of the entry, and the secret.
  ///   - part: the part of the entry that the secret is.
  init(_ item: PlannedItem, fieldAlone part: ImportPart) {
    var field = item
    field.part = part
    field.attributes[.field] = .string(part.field.name)
    items = [field]
  }

  /// Groups items of a store with their fields, in the order of the items.
  ///
  /// - Parameter items: items and fields, each with its group.
  package static func logins(of items: [PlannedItem]) -> [PlannedLogin] {
    var logins: [PlannedLogin] = []
    var places: [PrimaryKey: Int] = [:]
    for item in items.filter({ $0.field == nil }) + items.filter({ $0.field != nil }) {
      // A field has one login. The second of two items with one name is reported as a duplicate or gets another name.
      let key = item.primaryKey(in: GroupName.default).withoutField
      if item.field != nil, let index = places[key] {
        logins[index].items.append(item)
      } else {
        places[key] = logins.count
        logins.append(PlannedLogin(item))
      }
    }
    return logins
  }

  /// The item, or the first field of an entry without an item. It determines the login's primary key.
  package var head: PlannedItem { items[0] }

  /// A Boolean value that indicates whether the secret of its head distinguishes the login from others of its name.
  var isIdentified: Bool { head.field != nil || !head.secret.isEmpty }

  /// Returns true if another login has the same class, attributes, secret and fields. What browsers count does not
  /// matter.
  func isIdentical(to other: PlannedLogin) -> Bool {
    items.count == other.items.count
      && zip(items, other.items).allSatisfy { one, other in
        one.itemClass == other.itemClass && one.part == other.part
          && one.secret.isEqual(to: other.secret)
          && one.attributes.withoutBookkeeping == other.attributes.withoutBookkeeping
      }
  }

  /// Adds a field under a name that no other field of the login has.
  ///
  /// - Parameters:
  ///   - part: the part of the entry that it stores.
  ///   - secret: the plain text.
  package mutating func add(_ part: ImportPart, _ secret: SecretSlice) {
    let (name, label) = part.field
    var names = fieldNames ?? FieldNames(items.compactMap(\.field))
    // The set must have one owner, because a shared one would be copied for each field.
    fieldNames = nil
    // If all names are taken, the merge finds none either, and reports the loss.
    let free = names.take(name) ?? name
    fieldNames = names
    var field = PlannedItem(
      itemClass: head.itemClass, attributes: [.field: .string(free)], secret: secret, source: head.source,
      part: part, group: head.group)
    field.attributes[.label] = label.map { .string($0) }
    field.isLocal = head.isLocal
    field.take(keyOf: head.attributes)
    items.append(field)
  }

  /// Gives the login another class and other attributes of its head.
  mutating func move(to itemClass: ItemClass, _ attributes: Attributes) {
    items[0].alternatives = []
    for index in items.indices {
      for name in AttributeSchema.primaryKey(of: items[index].itemClass) where name != .field {
        items[index].attributes[name] = nil
      }
      items[index].itemClass = itemClass
    }
    self = placed(attributes)
  }

  /// Returns the same login with other attributes of its head. Its fields get the same primary key.
  func placed(_ attributes: Attributes) -> PlannedLogin {
    var login = self
    login.items[0].attributes = attributes
    for index in items.indices.dropFirst() { login.items[index].take(keyOf: attributes) }
    return login
  }
}

extension PlannedItem {
  /// The name of the field; nil for an item that is not a field.
  package var field: String? {
    guard case .string(let name)? = attributes[.field] else { return nil }
    return name
  }

  /// The label as text.
  package var label: String? {
    guard case .string(let text)? = attributes[.label] else { return nil }
    return text
  }

  /// The same field under each of its possible names, in the order in which they are tried.
  var fieldCandidates: some Sequence<PlannedItem> {
    FieldNaming.candidates(field ?? FieldName.note).lazy.map { name in
      var item = self
      item.attributes[.field] = .string(name)
      return item
    }
  }

  /// Returns the primary key in a keyring.
  ///
  /// - Parameter group: the group of the import, for an item without a group.
  package func primaryKey(in group: String) -> PrimaryKey {
    PrimaryKey(itemClass: itemClass, attributes: attributes, group: self.group ?? group)
  }

  /// Copies the attributes of the primary key from the login.
  fileprivate mutating func take(keyOf login: Attributes) {
    for name in AttributeSchema.primaryKey(of: itemClass) + [.synchronizable] where name != .field {
      attributes[name] = login[name]
    }
  }
}
