/// Brings the items of two sides together: what DESIGN section 7 calls semantic merging.
///
/// It works on values alone. Nothing that a side added or changed since the sides parted disappears: what cannot keep
/// its place is kept as a conflict copy. The result is the same in both directions, and merging it once more with one
/// of its sides changes nothing.
package struct StoreMerge {
  /// One side, or where both come from: the items of the shards that are merged.
  package struct Tree: Sendable {
    /// The items that the lines speak of, doubles included.
    package var records: [ItemRecord]
    /// Whether the file of an item is there, also where no line speaks of it: an item whose line alone is missing was
    /// damaged, not deleted.
    package var hasFile: @Sendable (ItemPath) -> Bool

    /// Describes a side.
    package init(records: [ItemRecord], hasFile: @escaping @Sendable (ItemPath) -> Bool) {
      self.records = records
      self.hasFile = hasFile
    }
  }

  /// An item of the result.
  package struct Item: Sendable, Equatable {
    /// What its line shall say.
    package var record: ItemRecord
    /// The side that has its message, and the place of it there; nil for a message that was sealed for the merge.
    package var source: Source?
  }

  /// Where a message comes from.
  package struct Source: Sendable, Equatable {
    /// The side that has it.
    package var side: MergeSide
    /// Where it is on that side.
    package var path: ItemPath
  }

  /// Decides between two messages with the same secret, of which both sides made another one.
  package var prefer: (ItemRecord, ItemRecord) -> MergeSide = { ours, theirs in
    // Without knowing more, at least the same one on every clone.
    ours.sealed.base64url.precedesInBytes(theirs.sealed.base64url) ? .ours : .theirs
  }
  /// Seals the secret of a side's message for a record whose primary key that message does not have; nil where that
  /// needs a key that is not there. The result has the digest of the new message.
  package var seal: (ItemRecord, Source) -> ItemRecord? = { _, _ in nil }

  /// Makes a merge that cannot seal.
  package init() {}

  /// Merges two sides.
  ///
  /// - Parameters:
  ///   - base: what both sides come from; without records when they have nothing in common.
  ///   - ours: one side.
  ///   - theirs: the other side.
  /// - Returns: the items of the result, in the order of their paths.
  package func merge(base: Tree, ours: Tree, theirs: Tree) -> [Item] {
    let bases = Dictionary(base.records.map { ($0.id, $0) }) { first, second in
      ItemMerge.isLater(second, than: first, bySecret: false) ? second : first
    }
    let mine = Side(ours, .ours)
    let others = Side(theirs, .theirs)
    var items: [ItemID: Item] = [:]
    var copies: [Item] = []
    for (id, item) in mine.items {
      if let other = others.items[id] {
        let (item, copy) = both(bases[id], item, other)
        items[id] = item
        if let copy { copies.append(copy) }
      } else if !others.hasDeleted(item.record, bases[id]) {
        items[id] = item
      }
    }
    for (id, item) in others.items where mine.items[id] == nil && !mine.hasDeleted(item.record, bases[id]) {
      items[id] = item
    }
    // A side may have the copy already, from a merge before.
    for copy in copies where items[copy.record.id] == nil { items[copy.record.id] = copy }
    return settlePlaces(Array(items.values)).sorted { $0.record.path < $1.record.path }
  }

  /// An item that both sides have, and what becomes of the version that gives way.
  private func both(_ base: ItemRecord?, _ ours: Item, _ theirs: Item) -> (item: Item, copy: Item?) {
    if ours.record == theirs.record || theirs.record == base { return (ours, nil) }
    if ours.record == base { return (theirs, nil) }
    let merge = ItemMerge(base: base, ours: ours.record, theirs: theirs.record)
    func item(_ side: MergeSide) -> Item { side == .ours ? ours : theirs }
    func copy(_ side: MergeSide) -> Item {
      Item(record: item(side).record.conflictCopy, source: item(side).source)
    }
    let loser = merge.hasConflict ? copy(merge.later == .ours ? .theirs : .ours) : nil
    if let side = merge.messageSide(prefer) {
      var result = item(side)
      let sealed = result.record.sealed
      result.record = merge.merged
      result.record.sealed = sealed
      return (result, loser)
    }
    // Renamed on one side, with a new secret on the other: only who can decrypt can make one item of it.
    if let source = item(merge.secretSide ?? .ours).source, let sealed = seal(merge.merged, source) {
      return (Item(record: sealed, source: nil), loser)
    }
    let isTheirs = ItemMerge.isLater(theirs.record, than: ours.record, bySecret: true)
    return isTheirs ? (theirs, copy(.ours)) : (ours, copy(.theirs))
  }

  /// Gives each place to one item: of several the one with the latest secret, and the others become its conflict
  /// copies.
  private func settlePlaces(_ items: [Item]) -> [Item] {
    var result: [Item] = []
    for (_, var rivals) in Dictionary(grouping: items, by: \.record.path) {
      rivals.sort { ItemMerge.isLater($0.record, than: $1.record, bySecret: true) }
      let winner = rivals[0]
      result.append(winner)
      for var rival in rivals.dropFirst() {
        rival.record = rival.record.conflicting(with: winner.record.id)
        result.append(rival)
      }
    }
    return result
  }
}

/// A side with one item for each id.
private struct Side {
  private(set) var items: [ItemID: StoreMerge.Item] = [:]
  private let tree: StoreMerge.Tree
  private let places: [ItemPath: ItemID]

  /// Plain git may have left several lines for one id: of one place the last changed counts, of several places the
  /// one with the latest secret, and the others are its conflict copies.
  init(_ tree: StoreMerge.Tree, _ side: MergeSide) {
    self.tree = tree
    places = Dictionary(tree.records.map { ($0.path, $0.id) }) { first, _ in first }
    var byID: [ItemID: [ItemPath: ItemRecord]] = [:]
    for record in tree.records {
      let known = byID[record.id]?[record.path]
      if known.map({ ItemMerge.isLater(record, than: $0, bySecret: false) }) ?? true {
        byID[record.id, default: [:]][record.path] = record
      }
    }
    for versions in byID.values {
      let sorted = versions.values.sorted { ItemMerge.isLater($0, than: $1, bySecret: true) }
      for (number, version) in sorted.enumerated() {
        let record = number == 0 ? version : version.conflictCopy
        items[record.id] = StoreMerge.Item(
          record: record, source: StoreMerge.Source(side: side, path: version.path))
      }
    }
  }

  /// Whether an item that the other side has was deleted here and is not worth more than that: an item that was
  /// changed since outlives its deletion, and one whose line alone is missing was damaged.
  func hasDeleted(_ record: ItemRecord, _ base: ItemRecord?) -> Bool {
    guard let base, record.isSameVersion(as: base) else { return false }
    return !tree.hasFile(base.path) || places[base.path] != nil
  }
}
