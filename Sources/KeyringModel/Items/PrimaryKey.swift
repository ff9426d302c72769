internal import Encoding

/// The attributes that make an item unique within its class: its primary-key attributes, its group and
/// `synchronizable`.
///
/// Default values (empty, zero, false) are omitted, and bytes that are valid UTF-8 are kept as text, so two
/// representations of the same key are equal.
package struct PrimaryKey: Hashable, Sendable {
  /// The class of the item.
  package let itemClass: ItemClass
  /// The values in the order of ``AttributeSchema/primaryKey(of:)``.
  package let values: [(name: AttributeName, value: AttributeValue)]
  /// The group of the item.
  package let group: String
  /// A Boolean value that indicates whether the item is marked as synchronised.
  package let isSynchronizable: Bool

  /// Extracts the primary key from an item's attributes.
  ///
  /// - Parameters:
  ///   - itemClass: The class of the item.
  ///   - attributes: All of its attributes. Those outside the primary key are ignored.
  ///   - group: Its group.
  package init(itemClass: ItemClass, attributes: Attributes, group: String) {
    self.itemClass = itemClass
    self.group = group
    values = AttributeSchema.primaryKey(of: itemClass).compactMap { name in
      guard let value = attributes[name] else { return nil }
      let canonical = PrimaryKey.canonical(name, value)
      return canonical.isDefault ? nil : (name, canonical)
    }
    isSynchronizable =
      attributes[.synchronizable].map { value in
        !AttributeSchema.normalized(value, as: .boolean).isDefault
      } ?? false
  }

  /// The value of one attribute of the key; nil if it has its default value.
  ///
  /// - Parameter name: An attribute of the primary key.
  package subscript(name: AttributeName) -> AttributeValue? {
    values.first { $0.name == name }?.value
  }

  /// The name of the field; nil if this is not the key of a field.
  package var field: String? {
    guard case .string(let text)? = self[.field] else { return nil }
    return text
  }

  /// The key of the login that a field belongs to, in the group of the field.
  package var withoutField: PrimaryKey { PrimaryKey(self, values: values.filter { $0.name != .field }) }

  private init(_ other: PrimaryKey, values: [(name: AttributeName, value: AttributeValue)]) {
    (itemClass, group, isSynchronizable) = (other.itemClass, other.group, other.isSynchronizable)
    self.values = values
  }

  /// The key as canonical JSON: `class`, `group`, all values, and `synchronizable` when true.
  package var canonicalJSON: [UInt8] {
    var members = values.map { JSONMember($0.name.text, JSONValue($0.value)) }
    members.append(JSONMember("class", .string(itemClass.rawValue)))
    members.append(JSONMember("group", .string(group)))
    if isSynchronizable { members.append(JSONMember("synchronizable", .bool(true))) }
    return JSONValue.object(members).canonicalBytes
  }

  private static func canonical(_ name: AttributeName, _ value: AttributeValue) -> AttributeValue {
    var value = value
    if case .bytes(let bytes) = value { value = AttributeValue(text: bytes) }
    return AttributeSchema.normalized(name: name, value: value)
  }

  /// Returns true if both identify the same item.
  package static func == (left: PrimaryKey, right: PrimaryKey) -> Bool {
    left.itemClass == right.itemClass && left.isSynchronizable == right.isSynchronizable
      && left.group.hasSameBytes(as: right.group)
      && left.values.elementsEqual(right.values) { $0.name == $1.name && $0.value == $1.value }
  }

  /// Feeds all parts of the key to a hasher.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(itemClass)
    hasher.combine(isSynchronizable)
    hasher.combine(group)
    for (name, value) in values {
      hasher.combine(name)
      hasher.combine(value)
    }
  }
}
