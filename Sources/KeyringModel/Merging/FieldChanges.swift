/// Which side changed which field of an item.
struct FieldChanges {
  /// What happened to one field.
  enum Change {
    /// Both sides have the same.
    case same
    /// One side alone changed it.
    case by(MergeSide)
    /// Both changed it, to different values.
    case contested

    /// The side whose value counts; nil when both have the same.
    func side(_ later: MergeSide) -> MergeSide? {
      switch self {
      case .same: nil
      case .by(let side): side
      case .contested: later
      }
    }

    var isContested: Bool {
      if case .contested = self { return true }
      return false
    }
  }

  let secret: Change
  let place: Change
  private(set) var attributes: [(name: AttributeName, change: Change)] = []
  private(set) var unknown: [(name: String, change: Change)] = []
  private(set) var isTheirsLater = false

  init(base: ItemRecord?, ours: ItemRecord, theirs: ItemRecord) {
    func change<Value: Equatable>(_ value: (ItemRecord) -> Value?) -> Change {
      let (mine, other) = (value(ours), value(theirs))
      if mine == other { return .same }
      guard let base else { return .contested }
      let old = value(base)
      if mine == old { return .by(.theirs) }
      return other == old ? .by(.ours) : .contested
    }
    secret = change(\.revision)
    place = change(\.primaryKey)
    let places = Set(ours.placeNames)
    let records = [ours, theirs] + (base.map { [$0] } ?? [])
    for name in Set(records.flatMap(\.attributes.names)).subtracting(places).sorted() {
      var change = change { $0.attributes[name] }
      // Nobody wrote it: a merge did, and the side without it has only not seen that merge yet.
      if name == .conflictOf, change.isContested { change = Self.mark(ours, theirs) }
      attributes.append((name, change))
    }
    // Compared as bytes: a set of texts would take some for the same that are not.
    var names: [String] = []
    for name in (ours.unknown + theirs.unknown).map(\.name)
    where !names.contains(where: { $0.hasSameBytes(as: name) }) { names.append(name) }
    names.sort { $0.precedesInBytes($1) }
    for name in names { unknown.append((name, change { $0.unknownMember(name) })) }
    isTheirsLater = isLater(theirs, than: ours)
  }

  private static func mark(_ ours: ItemRecord, _ theirs: ItemRecord) -> Change {
    guard let mine = ours.conflictOf?.hex, let other = theirs.conflictOf?.hex else {
      return .by(ours.isConflictCopy ? .ours : .theirs)
    }
    return .by(mine.precedesInBytes(other) ? .ours : .theirs)
  }

  /// Whether a side loses something that it changed.
  var hasConflict: Bool {
    secret.isContested || place.isContested || attributes.contains { $0.change.isContested }
      || unknown.contains { $0.change.isContested }
  }

  /// Whether a side counts as the later one. Of equal times what is contested decides, and nothing else: the same
  /// merge done again with its own result must come to the same.
  private func isLater(_ left: ItemRecord, than right: ItemRecord) -> Bool {
    if secret.isContested {
      if left.secretModified != right.secretModified { return left.secretModified > right.secretModified }
      return right.revision.hex.precedesInBytes(left.revision.hex)
    }
    if left.modified != right.modified { return left.modified > right.modified }
    return contestedBytes(right).lexicographicallyPrecedes(contestedBytes(left))
  }

  private func contestedBytes(_ record: ItemRecord) -> [UInt8] {
    var members: [JSONMember] = []
    for (name, change) in attributes where change.isContested {
      members.append(JSONMember(name.text, record.attributes[name].map(JSONValue.init) ?? .null))
    }
    for (name, change) in unknown where change.isContested {
      members.append(record.unknownMember(name) ?? JSONMember(name, .null))
    }
    return (place.isContested ? record.primaryKey.canonicalJSON : [])
      + JSONValue.object(members).canonicalBytes
  }
}
