package import KeyringModel

/// A new item that a name and attributes on the command line describe.
///
/// A new item is an internet password by default. With the prefix `generic:` or with `--service`, it is a generic
/// password. Any other class must be given.
package struct ItemDraft: Equatable, Sendable {
  /// The reason why no draft can be created.
  package enum Problem: Error, Equatable {
    /// The command line has neither a name nor an attribute.
    case nothingGiven
    /// A reference or an id names an existing item.
    case namesAnExistingItem
    /// The name cannot be that of a new item.
    case name(ItemName.Problem)
    /// The name and the options specify different classes.
    case contradictingClasses
    /// One attribute was given two values.
    case contradictingValues(AttributeName)
    /// The item cannot have an attribute.
    case attribute(AttributeError)
  }

  /// The class and the attributes.
  package let checked: CheckedAttributes
  /// The group, if one was given.
  package let group: String?

  /// The class.
  package var itemClass: ItemClass { checked.itemClass }
  /// The attributes.
  package var attributes: Attributes { checked.attributes }

  /// Creates the draft of a new item.
  ///
  /// - Throws: the problem of the name or of the first attribute that the class cannot have.
  package init(_ name: ItemName?, _ given: GivenAttributes) throws(Problem) {
    guard name != nil || !given.isEmpty else { throw .nothingGiven }
    if let problem = name?.problem { throw .name(problem) }
    var wanted = given.itemClass
    if case .named(let readings) = name, let first = readings.first, first.hasTypedClass {
      guard wanted == nil || wanted == first.itemClass else { throw .contradictingClasses }
      wanted = first.itemClass
    }
    let isService = given.entries.contains { $0.name == .service }
    let itemClass = wanted ?? (isService ? .genericPassword : .internetPassword)
    checked = try Self.attributes(itemClass, name, given, over: Attributes())
    group = given.group
  }

  /// Creates the draft of an item under a new name. Attributes that the name does not contain are not changed.
  ///
  /// - Parameters:
  ///   - record: the existing item.
  ///   - name: its new name, or nil if only attributes change. If it contains a class, it must be that of the item.
  ///   - given: attributes that change with the name.
  /// - Throws: as for a new item.
  package init(
    renaming record: ItemRecord, to name: ItemName?, _ given: GivenAttributes = GivenAttributes()
  ) throws(Problem) {
    if let problem = name?.problem { throw .name(problem) }
    if case .named(let readings) = name, let first = readings.first, first.hasTypedClass,
      first.itemClass != record.itemClass
    {
      throw .contradictingClasses
    }
    if let wanted = given.itemClass, wanted != record.itemClass { throw .contradictingClasses }
    checked = try Self.attributes(record.itemClass, name, given, over: record.attributes)
    group = given.group
  }

  /// Creates the draft of a new field of an existing login, with its primary key and, unless another is given, its
  /// group.
  ///
  /// - Parameters:
  ///   - login: the login.
  ///   - given: the name of the field and its own attributes.
  /// - Throws: as for a new item.
  package init(fieldOf login: ItemRecord, _ given: GivenAttributes) throws(Problem) {
    let itemClass = login.itemClass
    var key = Attributes()
    for name in AttributeSchema.primaryKey(of: itemClass) + [.synchronizable] {
      key[name] = login.attributes[name]
    }
    checked = try Self.attributes(itemClass, nil, given, over: key)
    group = given.group ?? login.group
  }

  private static func attributes(
    _ itemClass: ItemClass, _ name: ItemName?, _ given: GivenAttributes, over old: Attributes
  ) throws(Problem) -> CheckedAttributes {
    var new: [(name: AttributeName, value: AttributeValue)] = []
    func set(_ name: AttributeName, _ typed: [UInt8]) throws(Problem) {
      // Host names are compared without regard to case (RFC 4343), so they are stored in one. Other names, such as
      // those with spaces, stay as typed.
      let isHost = name == .server && HostName(authority: typed) != nil
      let bytes = isHost ? HostName.normalized(typed) : typed
      let value = AttributeSchema.value(ofText: bytes, for: name)
      if let other = new.first(where: { $0.name == name }) {
        guard other.value.isSame(as: value) else { throw .contradictingValues(name) }
        return
      }
      new.append((name, value))
    }
    switch name {
    case nil: break
    case .reference, .id: throw .namesAnExistingItem
    case .named(let readings):
      // Only an internet password has a host with a port.
      let reading = readings.first { $0.describesNewItems && ($0.itemClass ?? itemClass) == itemClass }
      guard let reading else { throw .contradictingClasses }
      try set(itemClass.containerNames[0], reading.container)
      if let account = reading.account { try set(itemClass.accountName, account) }
      for entry in reading.attributes { if let name = entry.name { try set(name, entry.bytes) } }
    }
    for entry in given.entries {
      try set(entry.name ?? (itemClass == .genericPassword ? .service : .server), entry.bytes)
    }
    if !given.tags.isEmpty { try set(.tags, Array(given.tags.joined(separator: [UInt8(ascii: ",")]))) }
    if let field = given.field { try set(.field, Array(field.utf8)) }
    var attributes = old
    let key = AttributeSchema.primaryKey(of: itemClass)
    for (name, value) in new {
      // An absent attribute of the primary key is the same as an empty one, and is always stored as absent.
      attributes[name] = value.isDefault && key.contains(name) ? nil : value
    }
    do {
      // A value that will be absent must be of the right type, too.
      for (name, value) in new where attributes[name] == nil {
        try AttributeSchema.check(name: name, value: value, class: itemClass)
      }
      return try CheckedAttributes(attributes, class: itemClass)
    } catch {
      throw .attribute(error)
    }
  }
}
