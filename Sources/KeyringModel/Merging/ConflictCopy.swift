/// Conflict copies: what a merge keeps of a version that could not keep its place.
///
/// A copy is an item with the attribute `conflictOf`, the id of the item that has the place. Its message is the one
/// that the version had, byte for byte, so that whoever merges needs no key: the header in it names the id that the
/// version had, and its place.
extension ItemRecord {
  /// The item that a conflict copy is in conflict with; nil for an item of its own.
  public var conflictOf: ItemID? {
    guard case .string(let digits) = attributes[.conflictOf] else { return nil }
    return ItemID(hex: digits)
  }

  /// Whether it is a conflict copy, which ordinary queries leave out.
  public var isConflictCopy: Bool { conflictOf != nil }

  /// This version as a conflict copy of the item with the same id.
  ///
  /// The copy has an id of its own, which depends on the version alone: every clone that merges it makes the same one,
  /// also from a message that was sealed again.
  package var conflictCopy: ItemRecord {
    var copy = self
    copy.sealed = ItemRecord.noDigest
    copy.id = copy.derivedID
    return copy.conflicting(with: conflictOf ?? id).sealed(as: sealed)
  }

  /// This item as a conflict copy of another one that has its place, under the id that it has.
  package func conflicting(with id: ItemID) -> ItemRecord {
    var copy = self
    copy.attributes[.conflictOf] = .string(id.hex)
    if (try? IndexLine.encode(copy)) != nil { return copy }
    // A line that was full already has no room for the mark. What is left out is in the sealed header, or was.
    let shown = Set(AttributeSchema.primaryKey(of: itemClass) + [.synchronizable, .conflictOf])
    for name in copy.attributes.names where !shown.contains(name) { copy.attributes[name] = nil }
    copy.unknown = []
    return copy
  }

  private func sealed(as digest: ContentDigest) -> ItemRecord {
    var copy = self
    copy.sealed = digest
    return copy
  }

  private var derivedID: ItemID {
    // A record that came from a line can be written as one; one that cannot is at least never taken for another.
    let line = (try? IndexLine.encode(self)) ?? Array((id.hex + revision.hex).utf8)
    let version = ContentDigest(of: line).bytes.prefix(6)
    // The copy of a copy has the message of the same item.
    let item = id.isCopy ? String(id.hex.prefix(20)) : ItemID.copyMark + ItemID.copyDigits(of: id)
    guard let id = ItemID(hex: item + Hexadecimal.text(version)) else { preconditionFailure("32 digits") }
    return id
  }

  private static let noDigest = ContentDigest(of: [])
}

extension ItemID {
  /// How the ids of conflict copies begin that were made of an item's version, and no other id.
  static let copyMark = "636f7079"

  /// Whether it is the id of a conflict copy that was made of an item's version.
  package var isCopy: Bool { hex.hasPrefix(Self.copyMark) }

  /// Whether it is the id of a conflict copy of a version of this item. A line cannot say so of another item: a
  /// message is not released under an id that has nothing to do with it (threat T10).
  package func isCopy(of item: ItemID) -> Bool { hex.hasPrefix(Self.copyMark + Self.copyDigits(of: item)) }

  /// What tells the copies of one item from those of another.
  static func copyDigits(of item: ItemID) -> String {
    Hexadecimal.text(ContentDigest(of: Array(item.hex.utf8)).bytes.prefix(6))
  }
}

extension ItemPath {
  private static let copyMark = Array("~~".utf8)
  private static let copyDigits = 32

  /// The path of a conflict copy: that of the version, two tildes, and the digits of the copy's id.
  package func conflictCopy(_ id: ItemID) -> ItemPath {
    ItemPath(itemClass: itemClass, container: container, name: "\(name)~~\(id.hex)")
  }

  /// The id of the conflict copy at this path; nil when it is the path of an ordinary item.
  package var copyID: ItemID? {
    let bytes = Array(name.utf8)
    let original = ItemPath.originalName(bytes)
    guard original.count < bytes.count else { return nil }
    return ItemID(hex: String(decoding: bytes.suffix(ItemPath.copyDigits), as: UTF8.self))
  }

  /// The path that a conflict copy had as an ordinary item; any other path as it is.
  package var original: ItemPath {
    let bytes = Array(name.utf8)
    let original = ItemPath.originalName(bytes)
    if original.count == bytes.count { return self }
    return ItemPath(
      itemClass: itemClass, container: container, name: String(decoding: original, as: UTF8.self))
  }

  /// A name without the suffix of a conflict copy.
  static func originalName<Name: BidirectionalCollection<UInt8>>(_ name: Name) -> Name.SubSequence {
    let suffix = name.suffix(copyMark.count + copyDigits)
    guard suffix.count < name.count, suffix.starts(with: copyMark),
      suffix.dropFirst(copyMark.count).allSatisfy({ Hexadecimal.value(ofDigit: $0) != nil })
    else { return name[...] }
    return name[..<suffix.startIndex]
  }
}
