public import Encoding

/// The index entry of one item. It contains only public data, never the secret.
public struct ItemRecord: Sendable {
  /// The class of the item.
  public var itemClass: ItemClass
  /// The id of the item, which never changes.
  public var id: ItemID
  /// The revision of the secret.
  public var revision: Revision
  /// The time when the item was added.
  public var created: Timestamp
  /// The time when attributes or secret last changed.
  public var modified: Timestamp
  /// The time when the secret last changed.
  public var secretModified: Timestamp
  /// The group of people who can read the secret.
  public var group: String
  /// The digest of the item's OpenPGP file.
  package var sealed: ContentDigest
  /// All attributes, known and custom.
  public var attributes: Attributes
  /// A Boolean value that indicates whether the item never leaves this machine. It follows from the file's
  /// location and is not written into the line.
  public var isLocal: Bool
  /// The top-level members of the line that this version does not know. Edits keep them, because a newer version may
  /// have written them.
  package var unknown: [JSONMember]

  /// Makes a record from its parts. ``IndexLine/encode(_:)`` checks them.
  package init(
    itemClass: ItemClass, id: ItemID, revision: Revision, created: Timestamp, modified: Timestamp,
    secretModified: Timestamp, group: String, sealed: ContentDigest, attributes: Attributes,
    isLocal: Bool = false, unknown: [JSONMember] = []
  ) {
    self.itemClass = itemClass
    self.id = id
    self.revision = revision
    self.created = created
    self.modified = modified
    self.secretModified = secretModified
    self.group = group
    self.sealed = sealed
    self.attributes = attributes
    self.isLocal = isLocal
    self.unknown = unknown
  }

  /// The primary key, which is unique within the class.
  package var primaryKey: PrimaryKey {
    PrimaryKey(itemClass: itemClass, attributes: attributes, group: group)
  }

  /// The path of the item, computed on each access.
  public var path: ItemPath { ItemPath(primaryKey) }

  /// The reference that names this item by its path.
  public var reference: ItemReference { .path(path) }

  /// Returns the value of an attribute or of a member that every item has (`class`, `id`, `revision`, `created`,
  /// `modified`, `secretModified`, `group`).
  ///
  /// - Parameter name: Any name.
  /// - Returns: The value as stored, or nil if the item has none.
  public func value(of name: AttributeName) -> AttributeValue? {
    // No attribute has the name of a member that every item has, so the faster search can come first.
    if let value = attributes[name] { return value }
    guard case .record(let field) = KnownNames.role(of: name) else { return nil }
    return switch field {
    case .itemClass: .string(itemClass.rawValue)
    case .id: .string(id.hex)
    case .revision: .string(revision.hex)
    case .created: .date(created)
    case .modified: .date(modified)
    case .secretModified: .date(secretModified)
    case .group: .string(group)
    case .sealed, .custom: nil
    }
  }
}

extension ItemRecord: Equatable {
  /// Returns true if both records are equal; texts are compared as bytes.
  public static func == (left: ItemRecord, right: ItemRecord) -> Bool {
    left.itemClass == right.itemClass && left.id == right.id && left.revision == right.revision
      && left.created == right.created && left.modified == right.modified
      && left.secretModified == right.secretModified && left.group.hasSameBytes(as: right.group)
      && left.sealed == right.sealed && left.attributes == right.attributes
      && left.isLocal == right.isLocal && left.unknown == right.unknown
  }
}

extension ItemRecord {
  /// The attribute that is the container in the item's path: the first of its class's ``ItemClass/containerNames`` that
  /// it has.
  package var containerName: AttributeName {
    let names = itemClass.containerNames
    if names.count == 1 { return names[0] }
    return names.first { attributes[$0]?.isDefault == false } ?? names[0]
  }
}

extension ItemRecord {
  /// The name of the field; nil if the item is not a field of a login.
  public var field: String? {
    guard let bytes = attributes[.field]?.contentBytes, !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension ItemRecord {
  /// The primary key that an item and its fields share, without field and group.
  package var loginPlace: PrimaryKey {
    PrimaryKey(itemClass: itemClass, attributes: attributes, group: "").withoutField
  }
}

/// The type that ``Revision`` identifies: one state of the secret of an item.
public enum SecretState {}

/// The id of an item. It is generated once and survives renames and edits.
public typealias ItemID = Identifier<ItemRecord>

/// The id of one state of an item's secret. It changes with every new secret, but not on re-encryption.
public typealias Revision = Identifier<SecretState>
