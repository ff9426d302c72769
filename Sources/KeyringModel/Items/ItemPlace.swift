/// The location of an item: its path, and whether it belongs to the store or to this machine alone.
///
/// What is known of several items is kept by their places. Ids are not unique in a store that somebody has tampered
/// with
/// (threat T40); two items at one place cannot be.
public struct ItemPlace: Hashable, Comparable, Sendable {
  /// The path of the item.
  public let path: ItemPath
  /// A Boolean value that indicates whether the item never leaves this machine.
  public let isLocal: Bool

  /// Names a place.
  public init(_ path: ItemPath, isLocal: Bool) { (self.path, self.isLocal) = (path, isLocal) }

  /// Orders places by their paths, those of the store before those of this machine.
  public static func < (left: ItemPlace, right: ItemPlace) -> Bool {
    left.isLocal == right.isLocal ? left.path < right.path : right.isLocal
  }
}

extension ItemRecord {
  /// The location of the item; derived anew on each call.
  public var place: ItemPlace { ItemPlace(path, isLocal: isLocal) }
}
