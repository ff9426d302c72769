internal import Encoding

/// One of two sides of a merge.
package enum MergeSide: Sendable, Equatable {
  /// The side that receives the merge.
  case ours
  /// The side that is merged.
  case theirs

  /// The opposite side.
  package var other: MergeSide { self == .ours ? .theirs : .ours }
}

/// Two versions of one item, merged three-way by member.
///
/// The merge is symmetric: two clones that merge in opposite directions get the same result.
struct ItemMerge {
  /// The result of comparing one member of both sides with the base.
  private enum Change {
    /// Both sides have the same value.
    case same
    /// Only one side changed it.
    case by(MergeSide)
    /// Both sides changed it, to different values.
    case contested

    var isContested: Bool {
      if case .contested = self { return true }
      return false
    }
  }

  /// The merged item. Its `sealed` is that of ``secretSide``.
  private(set) var merged: ItemRecord
  /// The side whose encrypted file the merged item has.
  private(set) var secretSide: MergeSide = .ours
  /// A Boolean value that indicates whether both sides changed the secret or its group, so that only one version can be
  /// kept, as a whole.
  private(set) var isSecretContested = false
  /// A Boolean value that indicates whether a side loses a change.
  private(set) var losesChanges = false
  /// The side that wins where both sides changed the same member.
  let later: MergeSide
  /// The side whose version is kept if only one of the two can be: the side that moved the item to another group,
  /// otherwise the later one. A user who is not in that group cannot move the item back.
  let keeper: MergeSide

  private let base: ItemRecord?
  private let ours: ItemRecord
  private let theirs: ItemRecord

  /// Merges an item that both sides have changed.
  ///
  /// - Parameters:
  ///   - base: The item in the common ancestor; nil if it did not exist there.
  ///   - ours: The item on our side.
  ///   - theirs: The item on their side.
  ///   - prefer: Chooses between two encrypted files with the same secret for the same group, both newer than the
  ///     common ancestor.
  init(
    base: ItemRecord?, ours: ItemRecord, theirs: ItemRecord, prefer: (ItemRecord, ItemRecord) -> MergeSide
  ) {
    (self.base, self.ours, self.theirs) = (base, ours, theirs)
    merged = ours
    // The group is part of the secret's state, because a file is encrypted to one group.
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

  /// Returns the item of a side.
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
  /// Returns true if this version is ordered after another one. The order is total, and the same on every clone.
  ///
  /// - Parameters:
  ///   - other: The other version.
  ///   - bySecret: True to compare the times of the secrets first, false to compare only the times of the last changes.
  package func isLater(than other: ItemRecord, bySecret: Bool) -> Bool {
    if bySecret {
      if secretModified != other.secretModified { return secretModified > other.secretModified }
      if revision != other.revision { return other.revision.hex.precedesInBytes(revision.hex) }
    }
    if modified != other.modified { return modified > other.modified }
    if id != other.id { return other.id.hex.precedesInBytes(id.hex) }
    return other.order.lexicographicallyPrecedes(order)
  }

  /// Returns true if this version was made before another one. A version that a merge has chosen is not older, although
  /// the version that lost may have been modified later: the chosen one may have a later secret or another group.
  func isOlder(than other: ItemRecord) -> Bool {
    self != other && group.hasSameBytes(as: other.group) && modified < other.modified
      && !isLater(than: other, bySecret: true)
  }

  /// The bytes that order versions with equal times and ids.
  var order: [UInt8] {
    // The error does not matter: a record that was read from a line can be written as one.
    (try? IndexLine.encode(self)) ?? []
  }

  /// Returns true if two versions differ at most in the encrypted file.
  package func isSameVersion(as other: ItemRecord) -> Bool {
    var plain = self
    plain.sealed = other.sealed
    return plain == other
  }
}
