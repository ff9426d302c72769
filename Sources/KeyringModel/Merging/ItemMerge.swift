internal import Encoding

/// One of two sides of a merge.
package enum MergeSide: Sendable, Equatable {
  /// The side that is merged into.
  case ours
  /// The side that is merged.
  case theirs

  /// The other one of the two.
  package var other: MergeSide { self == .ours ? .theirs : .ours }
}

/// Two versions of one item, merged three-way by member.
///
/// The decisions do not depend on which side is ours: both clones, merging in either direction, come to the same.
struct ItemMerge {
  /// The change of one member on one side.
  private enum Change {
    /// Both sides have the same.
    case same
    /// One side alone changed it.
    case by(MergeSide)
    /// Both changed it, to different values.
    case contested

    var isContested: Bool {
      if case .contested = self { return true }
      return false
    }
  }

  /// The item as it is to be; its `sealed` is that of ``secretSide``.
  private(set) var merged: ItemRecord
  /// The side whose encrypted file it has.
  private(set) var secretSide: MergeSide = .ours
  /// A Boolean value that indicates whether both sides have a new secret, or new readers of it, so that one
  /// version is dropped as a whole.
  private(set) var isSecretContested = false
  /// A Boolean value that indicates whether a side loses a change.
  private(set) var losesChanges = false
  /// The side whose changes count where both changed the same.
  let later: MergeSide
  /// The side whose version has the place where only one of the two can be kept as it is: the side that moved the
  /// item to
  /// another group, else the later one. Who is not in that group cannot move the item back.
  let keeper: MergeSide

  private let base: ItemRecord?
  private let ours: ItemRecord
  private let theirs: ItemRecord

  /// Merges an item that both sides have changed.
  ///
  /// - Parameters:
  ///   - base: The item where the sides parted; nil when it did not exist.
  ///   - ours: The item on one side.
  ///   - theirs: The item on the other side.
  ///   - prefer: Decides between two encrypted files with the same secret for the same group, both made since.
  init(
    base: ItemRecord?, ours: ItemRecord, theirs: ItemRecord, prefer: (ItemRecord, ItemRecord) -> MergeSide
  ) {
    (self.base, self.ours, self.theirs) = (base, ours, theirs)
    merged = ours
    // Who can read a secret belongs to it: an encrypted file is for one group.
    let secret = Self.change(base, ours, theirs) { SecretState(revision: $0.revision, group: $0.group) }
    later = theirs.isLater(than: ours, bySecret: secret.isContested) ? .theirs : .ours
    isSecretContested = secret.isContested
    keeper = if case .by(let side) = Self.change(base, ours, theirs, { $0.group }) { side } else { later }
    switch secret {
    case .same:
      if ours.sealed == theirs.sealed || theirs.sealed == base?.sealed {
        secretSide = .ours
      } else {
        secretSide = ours.sealed == base?.sealed ? .theirs : prefer(ours, theirs)
      }
    case .by(let side): secretSide = side
    case .contested: secretSide = keeper
    }
    mergeMembers()
    losesChanges = losesChanges || isSecretContested
  }

  /// The item of a side.
  func record(of side: MergeSide) -> ItemRecord { side == .ours ? ours : theirs }

  private struct SecretState: Equatable {
    let revision: Revision
    let group: String

    static func == (left: SecretState, right: SecretState) -> Bool {
      left.revision == right.revision && left.group.hasSameBytes(as: right.group)
    }
  }

  private static func change<Version, Value: Equatable>(
    _ base: Version?, _ ours: Version, _ theirs: Version, _ value: (Version) -> Value?
  ) -> Change {
    let (mine, other) = (value(ours), value(theirs))
    if mine == other { return .same }
    guard let base else { return .contested }
    let old = value(base)
    if mine == old { return .by(.theirs) }
    return other == old ? .by(.ours) : .contested
  }

  private func side(_ change: Change) -> MergeSide {
    switch change {
    case .same: .ours
    case .by(let side): side
    case .contested: later
    }
  }

  private mutating func mergeMembers() {
    let secret = record(of: secretSide)
    merged.created = min(ours.created, theirs.created)
    merged.modified = max(ours.modified, theirs.modified)
    (merged.revision, merged.group, merged.sealed) = (secret.revision, secret.group, secret.sealed)
    merged.secretModified =
      ours.revision == theirs.revision
      ? max(ours.secretModified, theirs.secretModified) : secret.secretModified
    let names = Set(placeNames)
    let place = Self.change(base, ours, theirs) { record in
      PrimaryKey(itemClass: record.itemClass, attributes: record.attributes, group: "")
    }
    losesChanges = place.isContested
    for name in names { merged.attributes[name] = record(of: side(place)).attributes[name] }
    let records = [ours, theirs] + (base.map { [$0] } ?? [])
    for name in Set(records.flatMap(\.attributes.names)).subtracting(names) {
      let change = Self.change(base, ours, theirs) { $0.attributes[name] }
      losesChanges = losesChanges || change.isContested
      merged.attributes[name] = record(of: side(change)).attributes[name]
    }
    mergeUnknown()
  }

  private mutating func mergeUnknown() {
    let (mine, other) = (UnknownMembers(of: ours), UnknownMembers(of: theirs))
    let old = base.map(UnknownMembers.init)
    merged.unknown = []
    for name in mine.names(with: other) {
      let change = Self.change(old, mine, other) { $0[name] }
      losesChanges = losesChanges || change.isContested
      if let member = (side(change) == .ours ? mine : other)[name] { merged.unknown.append(member) }
    }
  }

  private var placeNames: [AttributeName] {
    AttributeSchema.primaryKey(of: ours.itemClass) + [.synchronizable]
  }
}

extension ItemRecord {
  /// Returns true if this version counts as the later one of two. The order is total, and the same on every
  /// clone.
  ///
  /// - Parameters:
  ///   - other: The other one.
  ///   - bySecret: Whether the time of the secret decides, or that of the last change.
  package func isLater(than other: ItemRecord, bySecret: Bool) -> Bool {
    if bySecret {
      if secretModified != other.secretModified { return secretModified > other.secretModified }
      if revision != other.revision { return other.revision.hex.precedesInBytes(revision.hex) }
    }
    if modified != other.modified { return modified > other.modified }
    if id != other.id { return other.id.hex.precedesInBytes(id.hex) }
    return other.order.lexicographicallyPrecedes(order)
  }

  /// True if this version was made before another one. A version that a merge has chosen is not, although the
  /// version that
  /// gave way can have been modified later: one with a later secret, or one that was moved to another group.
  func isOlder(than other: ItemRecord) -> Bool {
    self != other && group.hasSameBytes(as: other.group) && modified < other.modified
      && !isLater(than: other, bySecret: true)
  }

  /// Bytes that put versions in order which say the same of their times.
  var order: [UInt8] {
    // What cannot be written as a line never came from one.
    (try? IndexLine.encode(self)) ?? []
  }

  /// Returns true if two versions differ in nothing but the encrypted file.
  package func isSameVersion(as other: ItemRecord) -> Bool {
    var plain = self
    plain.sealed = other.sealed
    return plain == other
  }
}
