public import KeyringModel

/// The public part of an item to be added.
public struct NewItem: Sendable {
  /// The item's class.
  public var itemClass: ItemClass { didSet { checked = nil } }
  /// Its attributes. Those of the primary key determine its path.
  public var attributes: Attributes { didSet { checked = nil } }
  /// The group whose members may read it.
  public var group: String
  /// True if the item never leaves this machine.
  public var isLocal: Bool
  /// The attributes, if they were checked since they changed.
  private var checked: CheckedAttributes?

  /// Returns the path of the item, which its primary key determines.
  ///
  /// - Throws: `KeyringError.invalidAttribute` if an attribute cannot be stored.
  public func path() throws(KeyringError) -> ItemPath {
    ItemPath(try primaryKey())
  }

  /// Returns the primary key of the item.
  ///
  /// - Throws: `KeyringError.invalidAttribute` if an attribute cannot be stored.
  func primaryKey() throws(KeyringError) -> PrimaryKey {
    PrimaryKey(itemClass: itemClass, attributes: try checkedAttributes().attributes, group: group)
  }

  /// Returns the attributes after checking them, unless they were checked before.
  ///
  /// - Throws: `KeyringError.invalidAttribute` if an attribute cannot be stored.
  func checkedAttributes() throws(KeyringError) -> CheckedAttributes {
    if let checked { return checked }
    return try attributes.checked(for: itemClass)
  }

  /// Creates a description of a new item.
  public init(
    itemClass: ItemClass, attributes: Attributes, group: String = GroupName.default, isLocal: Bool = false
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.group = group
    self.isLocal = isLocal
  }

  /// Creates a description of a new item from attributes that were checked.
  package init(_ checked: CheckedAttributes, group: String, isLocal: Bool = false) {
    self.init(
      itemClass: checked.itemClass, attributes: checked.attributes, group: group, isLocal: isLocal)
    self.checked = checked
  }
}

/// Changes to an item's attributes.
public struct AttributeChanges: Sendable {
  /// Attributes that get a new value.
  public var set: Attributes
  /// Attributes that are removed.
  public var clear: [AttributeName]
  /// The item's new group; `nil` leaves it unchanged.
  public var group: String?
  /// True to keep the item on this machine only, false to keep it in the store; `nil` leaves it unchanged.
  ///
  /// Making an item local does not remove it from machines that have already fetched it.
  public var isLocal: Bool?

  /// Creates a description of changes.
  public init(
    set: Attributes = Attributes(), clear: [AttributeName] = [], group: String? = nil, isLocal: Bool? = nil
  ) {
    self.set = set
    self.clear = clear
    self.group = group
    self.isLocal = isLocal
  }

  /// Returns the record with these changes applied.
  ///
  /// - Throws: `KeyringError.invalidAttribute` if an attribute does not belong to the item's class or a value cannot
  ///   be stored.
  func applied(to record: ItemRecord) throws(KeyringError) -> ItemRecord {
    var changed = record
    for name in clear { changed.attributes[name] = nil }
    for entry in set.entries { changed.attributes[entry.name] = entry.value }
    if let group { changed.group = group }
    if let isLocal { changed.isLocal = isLocal }
    changed.attributes = try changed.attributes.checked(for: changed.itemClass).attributes
    return changed
  }
}

extension Attributes {
  /// Returns the attributes after checking them.
  ///
  /// - Throws: `KeyringError.invalidAttribute` with the first attribute that an item of the class cannot have.
  fileprivate func checked(for itemClass: ItemClass) throws(KeyringError) -> CheckedAttributes {
    do {
      return try CheckedAttributes(self, class: itemClass)
    } catch {
      throw .invalidAttribute(error)
    }
  }
}
