/// The location of an item: its path, and whether it belongs to the store or to this machine alone.
///
/// Collections of items are keyed by place, because a place has at most one item. Ids are not unique in a store that
/// was tampered with (threat T40).
package struct ItemPlace: Hashable, Comparable, Sendable {
  /// The path of the item.
  package let path: ItemPath
  /// A Boolean value that indicates whether the item never leaves this machine.
  package let isLocal: Bool

  /// Makes a place.
  package init(_ path: ItemPath, isLocal: Bool) { (self.path, self.isLocal) = (path, isLocal) }

  /// Orders places by their paths, those of the store before those of this machine.
  package static func < (left: ItemPlace, right: ItemPlace) -> Bool {
    left.isLocal == right.isLocal ? left.path < right.path : right.isLocal
  }
}

extension ItemRecord {
  /// The location of the item, computed on each access.
  package var place: ItemPlace { ItemPlace(path, isLocal: isLocal) }
}
