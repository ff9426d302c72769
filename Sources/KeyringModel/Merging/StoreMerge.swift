internal import Encoding

/// A merge of the items of two sides, by id (DESIGN section 8). It works on values alone: it decrypts nothing and signs
/// nothing.
///
/// Nothing that a side added or changed after the common ancestor is lost: a version that cannot keep its path becomes
/// a conflict copy. The result is the same in both directions, and merging it again with one of its sides changes
/// nothing.
package struct StoreMerge {
  /// An item of the result.
  package struct Item: Sendable, Equatable {
    /// The merged record.
    package var record: ItemRecord
    /// The side whose record is used as a whole, including its proof; nil if the record has to be signed.
    package var recordSide: MergeSide?
    /// The side whose encrypted file the item has.
    package var secretSide: MergeSide
    /// The path of the encrypted file on that side.
    package var secretPath: ItemPath
  }

  /// A conflict copy: the record of a side as it was signed, which another version replaces.
  package struct Copy: Sendable, Equatable {
    /// The record.
    package var record: ItemRecord
    /// The side that has the record.
    package var side: MergeSide
  }

  /// The result of a merge.
  package struct Result: Sendable, Equatable {
    /// The merged items, sorted by path.
    package var items: [Item] = []
    /// The conflict copies, sorted by path and time.
    package var copies: [Copy] = []
    /// The conflict copies that are older than the common ancestor, because a side went back to an older version.
    package var olderVersions: [ItemRecord] = []
  }

  /// Chooses between two encrypted files with the same secret, both newer than the common ancestor.
  package var prefer: (ItemRecord, ItemRecord) -> MergeSide = { ours, theirs in
    // The default has no reason to prefer one, but makes the same choice on every clone.
    ours.sealed.base64url.precedesInBytes(theirs.sealed.base64url) ? .ours : .theirs
  }
  /// Returns true if a record that the user signs now would be accepted. `source` is the version whose encrypted file
  /// the record describes, and `side` is the side with that version.
  package var canSign: (_ record: ItemRecord, _ source: ItemRecord, _ side: MergeSide) -> Bool = { _, _, _ in
    true
  }
  /// True if a version of theirs that is older than the common ancestor is merged like any other change, because the
  /// user has requested it.
  package var acceptsOlderTheirs = false

  /// Makes a merge.
  package init() {}

  /// Merges two sides.
  ///
  /// - Parameters:
  ///   - base: The verified records of the common ancestor; empty if there is none.
  ///   - ours: The verified records of our side.
  ///   - theirs: The verified records of their side.
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

  /// Returns one version for each id. If a side has several, the one that was changed last is returned, and the others
  /// become conflict copies.
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

  /// Returns true if the other side has deleted an item that this side has not changed. A change wins over a deletion.
  private static func isDeleted(_ record: ItemRecord, _ base: ItemRecord?) -> Bool {
    base.map { record.isSameVersion(as: $0) } ?? false
  }

  /// Merges an item that both sides have.
  private func both(
    _ base: ItemRecord?, _ ours: ItemRecord, _ theirs: ItemRecord, _ result: inout Result
  ) -> Item {
    if ours == theirs { return Self.whole(ours, .ours) }
    if let base {
      // An older version that comes back becomes a conflict copy, so that no item goes back in time silently.
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

  /// Keeps one version as a whole and makes the other one a conflict copy.
  private func winner(_ merge: ItemMerge, _ result: inout Result) -> Item {
    copy(merge.keeper.other, of: merge, &result)
    return Self.whole(merge.record(of: merge.keeper), merge.keeper)
  }

  private func copy(_ side: MergeSide, of merge: ItemMerge, _ result: inout Result) {
    result.copies.append(Copy(record: merge.record(of: side), side: side))
  }

  /// Assigns each path to one item. If several items have the same path, the one with the latest secret keeps it, and
  /// the others become conflict copies.
  private func assignPlaces(
    _ items: [Item], _ result: inout Result, _ versions: (ItemID) -> [Copy]
  ) -> [Item] {
    var placed: [Item] = []
    for (_, rivals) in Dictionary(grouping: items, by: \.record.path) {
      let sorted = rivals.sorted { $0.record.isLater(than: $1.record, bySecret: true) }
      placed.append(sorted[0])
      for rival in sorted.dropFirst() {
        // A merged record is not signed yet, so the versions that it was merged from become the conflict copies.
        result.copies +=
          rival.recordSide.map { [Copy(record: rival.record, side: $0)] } ?? versions(rival.record.id)
      }
    }
    return placed.sorted { $0.record.path < $1.record.path }
  }

  private static func unique(_ copies: [Copy]) -> [Copy] {
    var unique: [Copy] = []
    // Only copies with the same line can be equal. Grouping by line keeps the number of comparisons small.
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
