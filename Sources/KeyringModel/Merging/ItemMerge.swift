/// What two sides have made of one item since they parted, brought together: three-way, by field.
///
/// The decisions do not depend on which side is ours: both clones, merging in either direction, come to the same.
struct ItemMerge {
  /// The item where the sides parted; nil when it did not exist.
  let base: ItemRecord?
  /// The item on one side.
  let ours: ItemRecord
  /// The item on the other side.
  let theirs: ItemRecord

  /// The item as it shall be.
  private(set) var merged: ItemRecord
  /// The side whose secret it has; nil when that is the same on both.
  let secretSide: MergeSide?
  /// The side whose primary key it has; nil when that is the same on both.
  let placeSide: MergeSide?
  /// Whether one of the sides loses something that it changed.
  let hasConflict: Bool
  /// The side whose changes count where both changed the same.
  let later: MergeSide

  /// Merges an item that both sides have.
  init(base: ItemRecord?, ours: ItemRecord, theirs: ItemRecord) {
    (self.base, self.ours, self.theirs) = (base, ours, theirs)
    let changes = FieldChanges(base: base, ours: ours, theirs: theirs)
    let later: MergeSide = changes.isTheirsLater ? .theirs : .ours
    func record(of side: MergeSide) -> ItemRecord { side == .ours ? ours : theirs }
    self.later = later
    hasConflict = changes.hasConflict
    merged = ours
    merged.created = min(ours.created, theirs.created)
    merged.modified = max(ours.modified, theirs.modified)
    secretSide = changes.secret.side(later)
    let secret = record(of: secretSide ?? .ours)
    merged.revision = secret.revision
    merged.secretModified =
      secretSide == nil ? max(ours.secretModified, theirs.secretModified) : secret.secretModified
    placeSide = changes.place.side(later)
    let place = record(of: placeSide ?? .ours)
    merged.group = place.group
    for name in ours.placeNames { merged.attributes[name] = place.attributes[name] }
    for (name, change) in changes.attributes {
      merged.attributes[name] = record(of: change.side(later) ?? .ours).attributes[name]
    }
    merged.unknown = changes.unknown.compactMap { name, change in
      record(of: change.side(later) ?? .ours).unknownMember(name)
    }
  }

  /// The side whose message has the merged secret and the merged primary key; nil when neither has both, so that the
  /// secret has to be sealed again.
  ///
  /// - Parameter prefer: decides where both sides have sealed the same secret again.
  func messageSide(_ prefer: (ItemRecord, ItemRecord) -> MergeSide) -> MergeSide? {
    if let secretSide, let placeSide { return secretSide == placeSide ? secretSide : nil }
    if let side = secretSide ?? placeSide { return side }
    if ours.sealed == theirs.sealed || theirs.sealed == base?.sealed { return .ours }
    if ours.sealed == base?.sealed { return .theirs }
    return prefer(ours, theirs)
  }

  /// The item of a side.
  func record(of side: MergeSide) -> ItemRecord { side == .ours ? ours : theirs }

  /// Whether one version counts as the later one of two; never both ways round.
  ///
  /// - Parameter bySecret: whether the time of the secret decides, or that of the last change.
  static func isLater(_ left: ItemRecord, than right: ItemRecord, bySecret: Bool) -> Bool {
    if bySecret {
      if left.secretModified != right.secretModified { return left.secretModified > right.secretModified }
      if left.revision != right.revision { return right.revision.hex.precedesInBytes(left.revision.hex) }
    }
    if left.modified != right.modified { return left.modified > right.modified }
    if left.id != right.id { return right.id.hex.precedesInBytes(left.id.hex) }
    return right.order.lexicographicallyPrecedes(left.order)
  }
}

/// One of two sides of a merge.
package enum MergeSide: Sendable, Equatable {
  /// The side that is merged into.
  case ours
  /// The side that is merged.
  case theirs
}

extension ItemRecord {
  /// The names of the attributes that decide where an item is.
  package var placeNames: [AttributeName] {
    AttributeSchema.primaryKey(of: itemClass) + [.synchronizable]
  }

  /// A member of the line that this version does not know.
  func unknownMember(_ name: String) -> JSONMember? {
    unknown.first { $0.name.hasSameBytes(as: name) }
  }

  /// Whether this version counts as the later one of two; never both ways round, and alike on every clone.
  ///
  /// - Parameters:
  ///   - other: the other one.
  ///   - bySecret: whether the time of the secret decides, or that of the last change.
  package func isLater(than other: ItemRecord, bySecret: Bool) -> Bool {
    ItemMerge.isLater(self, than: other, bySecret: bySecret)
  }

  /// Bytes to put versions in order by which say the same of their times.
  fileprivate var order: [UInt8] {
    var plain = self
    plain.sealed = ContentDigest(of: [])
    // What cannot be written as a line never came from one.
    return (try? IndexLine.encode(plain)) ?? []
  }

  /// Whether two versions differ in nothing but the message that they are sealed in.
  func isSameVersion(as other: ItemRecord) -> Bool {
    var plain = self
    plain.sealed = other.sealed
    return plain == other
  }
}
