/// Text that names one item and reveals nothing else: `keytree://internet-password/github.com/alice`.
///
/// A reference by path follows the primary key; a reference by id (`keytree://id/<32 digits>`) follows the
/// item through renames.
public enum ItemReference: Hashable, Sendable {
  /// The item that is currently at a path.
  case path(ItemPath)
  /// The item with an id, even after a rename.
  case id(ItemID)

  /// The scheme that every reference starts with.
  package static let scheme = "keytree://"

  private static let idPrefix = "id/"

  /// Parses a reference in the only form that ``text`` writes.
  ///
  /// - Parameter text: A reference. Any other form (other letter case, a query, a trailing slash) gives nil.
  public init?(_ text: String) {
    guard text.utf8.starts(with: Self.scheme.utf8) else { return nil }
    let rest = text.utf8.dropFirst(Self.scheme.utf8.count)
    if rest.starts(with: Self.idPrefix.utf8) {
      let digits = String(decoding: rest.dropFirst(Self.idPrefix.utf8.count), as: UTF8.self)
      guard let id = ItemID(hex: digits) else { return nil }
      self = .id(id)
    } else {
      guard let path = ItemPath(validating: String(decoding: rest, as: UTF8.self)) else { return nil }
      self = .path(path)
    }
  }

  /// The reference as text.
  public var text: String {
    switch self {
    case .path(let path): Self.scheme + path.text
    case .id(let id): Self.scheme + Self.idPrefix + id.hex
    }
  }
}

extension ItemReference: CustomStringConvertible {
  /// The same as ``text``.
  public var description: String { text }
}
