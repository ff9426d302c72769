/// Where an item lives: `<class>/<container>/<name>`, a pure function of its class and primary key.
///
/// Paths are ASCII, safe on file systems that fold case or normalise text, and as readable as that allows;
/// what readability loses is made up by a digest (``ItemPath/init(_:)``).
public struct ItemPath: Hashable, Comparable, Sendable {
  /// The path below `items/`, without the suffix of the file: `internet-password/github.com/alice`.
  public let text: String
  /// The class, first part of the path.
  public let itemClass: ItemClass
  /// The readable form of server, service, issuer or key name.
  public let container: String
  /// The readable form of the rest, with a digest where something is not shown.
  public let name: String

  /// The most bytes of a container or name.
  package static let maximumComponentSize = 100

  /// Derives the path of the item that has this primary key.
  ///
  /// The name ends with `~` and ten digits of the SHA-256 of the key's canonical JSON when a component does
  /// not show its attribute exactly or when an attribute, group or flag of the key is not shown at all. So
  /// different keys have different paths.
  ///
  /// - Parameter key: The primary key of the item.
  public init(_ key: PrimaryKey) {
    let parts = ItemPathParts(key)
    var name = parts.name
    if parts.isLossy || name.count > ItemPath.maximumComponentSize {
      let digest = ContentDigest(of: key.canonicalJSON).bytes.prefix(ItemPath.digestSize / 2)
      name =
        name.prefix(ItemPath.maximumComponentSize - 1 - ItemPath.digestSize) + [UInt8(ascii: "~")]
        + Hexadecimal.encode(digest)
    }
    self.init(
      itemClass: key.itemClass, container: String(decoding: parts.container, as: UTF8.self),
      name: String(decoding: name, as: UTF8.self))
  }

  /// Accepts a path that ``init(_:)`` could have made, or that of a conflict copy, and nothing else.
  ///
  /// - Parameter text: A path as in ``text``; nil for a bad class, a part that is missing, too long, empty or
  ///   has other characters than `[a-z0-9._@-]` (and `+`, `~` in names), or is not safe as a file name.
  public init?(validating text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 3, let itemClass = ItemClass(rawValue: String(decoding: parts[0], as: UTF8.self)),
      ReadableComponent.isValid(parts[1], isName: false),
      ReadableComponent.isValid(ItemPath.originalName(parts[2]), isName: true)
    else { return nil }
    self.init(
      itemClass: itemClass, container: String(decoding: parts[1], as: UTF8.self),
      name: String(decoding: parts[2], as: UTF8.self))
  }

  init(itemClass: ItemClass, container: String, name: String) {
    text = "\(itemClass.rawValue)/\(container)/\(name)"
    self.itemClass = itemClass
    self.container = container
    self.name = name
  }

  /// The number of the index shard that holds the item: the first byte of the SHA-256 of ``text``, for a conflict
  /// copy that of the path which it is a copy of.
  public var shard: UInt8 { ContentDigest(of: Array(original.text.utf8)).bytes[0] }

  /// Whether the container and the account are shown exactly, without a digest.
  var isExact: Bool { !name.utf8.contains(UInt8(ascii: "~")) }

  /// Whether both are the same path; paths are ASCII, so bytes and characters agree.
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

  /// Hexadecimal digits of the digest in a name.
  static let digestSize = 10
}

extension ItemPath: CustomStringConvertible {
  /// The same as ``text``.
  public var description: String { text }
}
