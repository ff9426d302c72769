internal import Encoding

/// Merges the items of two sides by id (DESIGN section 8). Works on values alone: nothing is decrypted and nothing
/// signed.
///
/// Nothing that a side added or changed since the sides parted disappears: what cannot keep its place is kept as a
/// conflict
/// copy. The result is the same in both directions, and merging it once more with one of its sides changes nothing.
package struct StoreMerge {
  /// An item of the result.
  package struct Item: Sendable, Equatable {
    /// The record as it is to be.
    package var record: ItemRecord
    /// The side whose record it is as a whole, proof included; nil for a record that has to be signed.
    package var recordSide: MergeSide?
    /// The side whose encrypted file it has.
    package var secretSide: MergeSide
    /// The path of the encrypted file on that side.
    package var secretPath: ItemPath
  }

  /// A version that gave way: the record of a side as it was signed.
  package struct Copy: Sendable, Equatable {
    /// The record.
    package var record: ItemRecord
    /// The side that has it.
    package var side: MergeSide
  }

  /// The result of a merge.
  package struct Result: Sendable, Equatable {
    /// The items that have a place, in the order of their paths.
    package var items: [Item] = []
    /// The versions that gave way, in the order of their paths and times.
    package var copies: [Copy] = []
    /// The versions among them that are older than what both sides had before: somebody has put them back.
    package var olderVersions: [ItemRecord] = []
  }

  /// Decides between two encrypted files with the same secret, both made since the sides parted.
  package var prefer: (ItemRecord, ItemRecord) -> MergeSide = { ours, theirs in
    // Without knowing more, at least the same one on every clone.
    ours.sealed.base64url.precedesInBytes(theirs.sealed.base64url) ? .ours : .theirs
  }
  /// Returns whether a record that is signed now would be believed: `source` is the version whose encrypted file it
  /// describes, and `side` has that version.
  package var canSign: (_ record: ItemRecord, _ source: ItemRecord, _ side: MergeSide) -> Bool = { _, _, _ in
    true
  }
  /// True if a version of theirs that is older than the common ancestor counts as any other change, because the user
  /// has
  /// asked for it.
  package var acceptsOlderTheirs = false

  /// Makes a merge.
  package init() {}

  /// Merges two sides.
  ///
  /// - Parameters:
  ///   - base: The verified records that both sides come from; empty when they have nothing in common.
  ///   - ours: Those of one side.
  ///   - theirs: Those of the other side.
  package func merge(base: [ItemRecord], ours: [ItemRecord], theirs: [ItemRecord]) -> Result {
    let bases = Dictionary(base.map { ($0.id, $0) }) { first, second in
      second.isLater(than: first, bySecret: false) ? second : first
    }
    var result = Result()
    let mine = Self.latest(ours, .ours, bases, &result)
    let others = Self.latest(theirs, .theirs, bases, &result)
    var items: [Item] = []
    for id in Set(mine.keys).union(others.keys) {
      switch (mine[id], others[id]) {
      case (let ours?, let theirs?): items.append(both(bases[id], ours, theirs, &result))
      case (let ours?, nil): if !Self.isDeleted(ours, bases[id]) { items.append(Self.whole(ours, .ours)) }
      case (nil, let theirs?):
        if !Self.isDeleted(theirs, bases[id]) { items.append(Self.whole(theirs, .theirs)) }
      case (nil, nil): break
      }
    }
    result.items = assignPlaces(items, &result) { id in
      [(mine[id], MergeSide.ours), (others[id], .theirs)].compactMap { record, side in
        record.map { Copy(record: $0, side: side) }
      }
    }
    result.copies = Self.unique(result.copies)
    return result
  }

  /// One version for each id: of several the one that was changed last, and the others give way.
  private static func latest(
    _ records: [ItemRecord], _ side: MergeSide, _ bases: [ItemID: ItemRecord], _ result: inout Result
  ) -> [ItemID: ItemRecord] {
    var latest: [ItemID: ItemRecord] = [:]
    for (id, versions) in Dictionary(grouping: records, by: \.id) {
      let sorted = versions.sorted { $0.isLater(than: $1, bySecret: false) }
      latest[id] = sorted[0]
      for version in sorted.dropFirst() where version != sorted[0] {
        result.copies.append(Copy(record: version, side: side))
        if let base = bases[id], version.isOlder(than: base) { result.olderVersions.append(version) }
      }
    }
    return latest
  }

  private static func whole(_ record: ItemRecord, _ side: MergeSide) -> Item {
    Item(record: record, recordSide: side, secretSide: side, secretPath: record.path)
  }

  /// Returns true if the other side has deleted an item that this side has not changed. An item that was
  /// changed since outlives its deletion.
  private static func isDeleted(_ record: ItemRecord, _ base: ItemRecord?) -> Bool {
    base.map { record.isSameVersion(as: $0) } ?? false
  }

  /// An item that both sides have.
  private func both(
    _ base: ItemRecord?, _ ours: ItemRecord, _ theirs: ItemRecord, _ result: inout Result
  ) -> Item {
    if ours == theirs { return Self.whole(ours, .ours) }
    if let base {
      // An older version that came back is a copy, and the newer one stays: an item never goes back in time silently.
      for (version, side) in [(theirs, MergeSide.theirs), (ours, .ours)] {
        let other = side == .ours ? theirs : ours
        if side == .theirs, acceptsOlderTheirs { continue }
        guard version.isOlder(than: base), other.modified > version.modified else { continue }
        result.copies.append(Copy(record: version, side: side))
        result.olderVersions.append(version)
        return Self.whole(other, side.other)
      }
      if theirs == base { return Self.whole(ours, .ours) }
      if ours == base { return Self.whole(theirs, .theirs) }
    }
    let merge = ItemMerge(base: base, ours: ours, theirs: theirs, prefer: prefer)
    if merge.isSecretContested { return winner(merge, &result) }
    for side in [MergeSide.ours, .theirs] where merge.merged == merge.record(of: side) {
      if merge.losesChanges { copy(side.other, of: merge, &result) }
      return Self.whole(merge.merged, side)
    }
    let source = merge.record(of: merge.secretSide)
    guard canSign(merge.merged, source, merge.secretSide), (try? IndexLine.encode(merge.merged)) != nil else {
      return winner(merge, &result)
    }
    if merge.losesChanges { copy(merge.later.other, of: merge, &result) }
    return Item(
      record: merge.merged, recordSide: nil, secretSide: merge.secretSide,
      secretPath: merge.record(of: merge.secretSide).path)
  }

  /// One version as a whole, the other one as a copy.
  private func winner(_ merge: ItemMerge, _ result: inout Result) -> Item {
    copy(merge.keeper.other, of: merge, &result)
    return Self.whole(merge.record(of: merge.keeper), merge.keeper)
  }

  private func copy(_ side: MergeSide, of merge: ItemMerge, _ result: inout Result) {
    result.copies.append(Copy(record: merge.record(of: side), side: side))
  }

  /// Gives each place to one item: of several the one with the latest secret, and the others give way.
  private func assignPlaces(
    _ items: [Item], _ result: inout Result, _ versions: (ItemID) -> [Copy]
  ) -> [Item] {
    var placed: [Item] = []
    for (_, rivals) in Dictionary(grouping: items, by: \.record.path) {
      let sorted = rivals.sorted { $0.record.isLater(than: $1.record, bySecret: true) }
      placed.append(sorted[0])
      for rival in sorted.dropFirst() {
        // A record that would have been signed now is not: the versions that it would have come from give way.
        result.copies +=
          rival.recordSide.map { [Copy(record: rival.record, side: $0)] } ?? versions(rival.record.id)
      }
    }
    return placed.sorted { $0.record.path < $1.record.path }
  }

  private static func unique(_ copies: [Copy]) -> [Copy] {
    var unique: [Copy] = []
    // Only copies with the same line can be the same, of which there are few.
    for alike in Dictionary(grouping: copies, by: \.record.order).values {
      var some: [Copy] = []
      for copy in alike where !some.contains(where: { $0.record == copy.record }) { some.append(copy) }
      unique += some
    }
    return unique.sorted { left, right in
      left.record.path == right.record.path
        ? right.record.isLater(than: left.record, bySecret: false) : left.record.path < right.record.path
    }
  }
}
