public import KeyringModel

/// An item to be added: what is public about it.
public struct NewItem: Sendable {
  /// The item's class.
  public var itemClass: ItemClass
  /// Its attributes; those of the primary key decide where it is kept.
  public var attributes: Attributes
  /// The group whose members may read it.
  public var group: String
  /// Whether it never leaves this machine.
  public var isLocal: Bool

  /// The item's place, from its primary key.
  ///
  /// - Throws: `KeyringError.invalidAttribute` when an attribute cannot be stored.
  public func path() throws(KeyringError) -> ItemPath {
    let attributes = try attributes.checked(for: itemClass)
    return ItemPath(PrimaryKey(itemClass: itemClass, attributes: attributes, group: group))
  }

  /// Describes a new item.
  public init(
    itemClass: ItemClass, attributes: Attributes, group: String = GroupName.default, isLocal: Bool = false
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.group = group
    self.isLocal = isLocal
  }
}

/// Changes to an item's attributes.
public struct AttributeChanges: Sendable {
  /// Attributes that get a new value.
  public var set: Attributes
  /// Attributes that go away.
  public var clear: [AttributeName]
  /// The item's new group; `nil` leaves it where it is.
  public var group: String?
  /// Whether the item is kept on this machine alone from now on; `nil` leaves it where it is.
  ///
  /// What was in the store before stays with whoever has fetched it: to keep it here takes nothing back.
  public var isLocal: Bool?

  /// Describes changes.
  public init(
    set: Attributes = Attributes(), clear: [AttributeName] = [], group: String? = nil, isLocal: Bool? = nil
  ) {
    self.set = set
    self.clear = clear
    self.group = group
    self.isLocal = isLocal
  }

  /// The record with these changes; everything else as it was.
  ///
  /// - Throws: `KeyringError.invalidAttribute` when an attribute does not belong to the item's class or a
  ///   value cannot be stored.
  func applied(to record: ItemRecord) throws(KeyringError) -> ItemRecord {
    var changed = record
    for name in clear { changed.attributes[name] = nil }
    for entry in set.entries { changed.attributes[entry.name] = entry.value }
    if let group { changed.group = group }
    if let isLocal { changed.isLocal = isLocal }
    changed.attributes = try changed.attributes.checked(for: changed.itemClass)
    return changed
  }
}

extension Attributes {
  /// The attributes with every value brought to its attribute's type.
  ///
  /// - Throws: `KeyringError.invalidAttribute` with the first one that an item of the class cannot have.
  func checked(for itemClass: ItemClass) throws(KeyringError) -> Attributes {
    var result = Attributes()
    for entry in entries {
      result[entry.name] = AttributeSchema.normalized(name: entry.name, value: entry.value)
    }
    do {
      try AttributeSchema.check(result, class: itemClass)
    } catch {
      throw .invalidAttribute(error)
    }
    return result
  }
}
