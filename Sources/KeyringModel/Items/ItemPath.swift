internal import Encoding

/// The path of an item: `<class>/<container>/<account>`, and `/<field>` for a field of a login. It is a pure function
/// of class and primary key.
///
/// Paths are ASCII, readable, and safe on file systems that fold case or normalise text. If the readable form is
/// ambiguous, a digest makes the path unique (``ItemPath/init(_:)``).
public struct ItemPath: Hashable, Comparable, Sendable {
  /// The path below `items/`, without the extension of the file: `internet-password/github.com/alice`.
  public let text: String
  /// The class, the first part of the path.
  public let itemClass: ItemClass
  /// The readable form of server, service, issuer or key name.
  public let container: String
  /// The readable form of the rest of the primary key, with a digest if some part of the key is not visible.
  public let name: String
  /// The name of the field; nil for the path of an item that is not a field.
  public let field: String?

  /// Derives the path of the item that has this primary key.
  ///
  /// The name ends with `~` and ten digits of the SHA-256 of the key's canonical JSON when a component does not show
  /// its attribute exactly or when an attribute, group or flag of the key is not shown. Different keys therefore have
  /// different paths.
  ///
  /// - Parameter key: The primary key of the item.
  package init(_ key: PrimaryKey) {
    let parts = ItemPathParts(key)
    var name = parts.name
    if parts.isLossy || name.count > ReadableComponent.maximumSize {
      let digest = ContentDigest(of: key.withoutField.canonicalJSON).bytes.prefix(
        ReadableComponent.digestSize / 2)
      name =
        name.prefix(ReadableComponent.maximumSize - 1 - ReadableComponent.digestSize) + [UInt8(ascii: "~")]
        + Hexadecimal.encode(digest)
    }
    self.init(
      itemClass: key.itemClass, container: String(decoding: parts.container, as: UTF8.self),
      name: String(decoding: name, as: UTF8.self), field: key.field)
  }

  /// Parses a path. Only paths that ``init(_:)`` could have made are accepted.
  ///
  /// - Parameter text: A path in the form of ``text``. The result is nil for an unknown class, for a part that is
  ///   missing, empty, too long, not safe as a file name or has characters other than `[a-z0-9._@-]` (and `+`, `~` in
  ///   names), and for a field in a class without fields.
  public init?(validating text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 3 || parts.count == 4,
      let itemClass = ItemClass(rawValue: String(decoding: parts[0], as: UTF8.self)),
      ReadableComponent.isValid(parts[1], isName: false),
      ReadableComponent.isValid(parts[2], isName: true)
    else { return nil }
    var field: String?
    if parts.count == 4 {
      guard itemClass.member.isSubset(of: .passwords), FieldName.isValid(parts[3]) else { return nil }
      field = String(decoding: parts[3], as: UTF8.self)
    }
    guard !ItemPath.looksLikeFile(parts[2]) else { return nil }
    self.init(
      itemClass: itemClass, container: String(decoding: parts[1], as: UTF8.self),
      name: String(decoding: parts[2], as: UTF8.self), field: field)
  }

  init(itemClass: ItemClass, container: String, name: String, field: String? = nil) {
    text = "\(itemClass.rawValue)/\(container)/\(name)\(field.map { "/\($0)" } ?? "")"
    self.itemClass = itemClass
    self.container = container
    self.name = name
    self.field = field
  }

  /// The path of the login that this field belongs to, in the group of the field; the path itself if it is not that of
  /// a field.
  public var login: ItemPath {
    field == nil ? self : ItemPath(itemClass: itemClass, container: container, name: name)
  }

  /// Returns the path of a field of this login.
  ///
  /// - Parameter field: A valid name of a field (``FieldName``).
  package func appending(field: String) -> ItemPath {
    ItemPath(itemClass: itemClass, container: container, name: name, field: field)
  }

  /// The number of the index shard that holds the item: the first hexadecimal digit of the SHA-256 of the container,
  /// and that of the SHA-256 of the path without the field. The items of one container are therefore in at most 16
  /// shards, and a login and its fields are in one.
  package var shard: UInt8 {
    ItemPath.shardRow(of: container.utf8) | ContentDigest(of: Array(login.text.utf8)).bytes[0] >> 4
  }

  /// Returns the number of the first of the 16 shards that hold the items of a container.
  static func shardRow(of container: some Sequence<UInt8>) -> UInt8 {
    ContentDigest(of: Array(container)).bytes[0] & 0xf0
  }

  /// Returns the container in the paths of items with a given server, service, issuer, or key tag or label.
  ///
  /// - Parameters:
  ///   - content: The bytes of the attribute.
  ///   - itemClass: The class of the items.
  package static func container(showing content: [UInt8], in itemClass: ItemClass) -> String {
    let shown = ItemPathParts.container(AttributeValue(text: content), of: itemClass)
    return String(decoding: ReadableComponent(shown?.contentBytes ?? []).bytes, as: UTF8.self)
  }

  /// Returns true if the folder with the fields of an account could be confused with the file of another item:
  /// `x.gpg/otp.gpg` and `x.gpg`.
  static func looksLikeFile(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    [".gpg", ".json"].contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
  }

  /// A Boolean value that indicates whether the path shows the container and the account exactly, without a
  /// digest.
  package var isExact: Bool { !name.utf8.contains(UInt8(ascii: "~")) }

  /// Returns true if both are the same path. Paths are ASCII, so their bytes are compared.
  public static func == (left: ItemPath, right: ItemPath) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Feeds the path to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }

  /// Orders paths by their bytes, the order of lines in a shard.
  public static func < (left: ItemPath, right: ItemPath) -> Bool {
    left.text.precedesInBytes(right.text)
  }
}

extension ItemPath: CustomStringConvertible {
  /// The same as ``text``.
  public var description: String { text }
}
