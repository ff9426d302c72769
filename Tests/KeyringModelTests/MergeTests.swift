import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests the laws of merging with random histories.
@Suite(.serialized, .slow)
struct MergeTests {
  /// The number of histories. `KEYTREE_MERGE_SEEDS=10000 swift test --filter MergeTests` tries more.
  private static let seeds =
    ProcessInfo.processInfo.environment["KEYTREE_MERGE_SEEDS"].flatMap(UInt64.init) ?? 500

  @Test(arguments: [false, true])
  func `random histories of three clones merge without loss and equally in both directions`(
    hasForgeries: Bool
  ) {
    for seed in stride(from: hasForgeries ? 1 : 0, to: Self.seeds, by: 2) {
      var history = MergeHistory(seed: seed)
      let signers = MergeHistory.Signer.allCases
      history.signer = signers[Int(seed / 2) % signers.count]
      var shared: ModelTree = [:]
      for _ in 0..<3 { history.change(&shared) }
      // The current items of each clone, and its items after the last merge.
      var clones = Array(repeating: shared, count: 3)
      var bases = clones
      for round in 0..<6 {
        for clone in clones.indices {
          for _ in 0..<Int.random(in: 0...3, using: &history.generator) { history.change(&clones[clone]) }
        }
        let clone = Int.random(in: 0..<3, using: &history.generator)
        var theirs = shared
        if hasForgeries {
          for _ in 0..<Int.random(in: 1...3, using: &history.generator) { history.forge(&theirs) }
        }
        let base = bases[clone]
        let laws = MergeLaws(
          base: base, ours: clones[clone], theirs: history.effective(theirs, base: base), history,
          "seed \(seed), round \(round)")
        laws.check()
        shared = history.commit(laws.result)
        (clones[clone], bases[clone]) = (shared, shared)
      }
    }
  }
}

/// One merge and the laws that it must satisfy.
private struct MergeLaws {
  private let base: [ItemID: ItemRecord]
  private let sides: [[ItemRecord]]
  private let history: MergeHistory
  private let name: String
  let result: StoreMerge.Result
  private let items: [ItemID: ItemRecord]

  init(base: ModelTree, ours: ModelTree, theirs: ModelTree, _ history: MergeHistory, _ name: String) {
    self.base = Dictionary(base.values.map { ($0.id, $0) }) {
      $0.isLater(than: $1, bySecret: false) ? $0 : $1
    }
    sides = [Array(ours.values), Array(theirs.values)]
    (self.history, self.name) = (history, name)
    result = history.merge.merge(base: Array(base.values), ours: sides[0], theirs: sides[1])
    items = Dictionary(result.items.map { ($0.record.id, $0.record) }) { first, _ in first }
  }

  private func expect(_ isTrue: Bool, _ law: String, line: Int = #line) {
    // The items are long to print, and the seed is enough to reproduce them.
    let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    if !isTrue { Issue.record("\(law): \(name)", sourceLocation: location) }
  }

  private func isCopy(_ record: ItemRecord) -> Bool { result.copies.contains { $0.record == record } }

  private func versions(of id: ItemID) -> [ItemRecord] { sides.joined().filter { $0.id == id } }

  func check() {
    let records = result.items.map(\.record)
    expect(sides.joined().allSatisfy { $0.line != nil }, "the history makes records that can be written")
    expect(Set(records.map(\.id)).count == records.count, "each item has one place")
    expect(Set(records.map(\.path)).count == records.count, "each place has one item")
    for item in result.items { checkOrigin(item) }
    for copy in result.copies {
      expect(sides[copy.side == .ours ? 0 : 1].contains(copy.record), "a copy is a version of its side")
      expect(history.isSigned(copy.record), "a member has signed a copy")
    }
    for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
      for record in side { checkKept(record, other) }
    }
    checkTimes()
    checkDirections()
  }

  // MARK: Origin of records

  private func checkOrigin(_ item: StoreMerge.Item) {
    let record = item.record
    if let side = item.recordSide {
      expect(
        sides[side == .ours ? 0 : 1].contains(record), "a record that is taken whole is that of its side")
      expect(history.isSigned(record), "a member has signed a record that is taken whole")
    } else {
      expect(history.signer != .none, "a user who cannot sign gets the record of one side")
      checkMembers(record)
    }
    let source = sides[item.secretSide == .ours ? 0 : 1].first { $0.path == item.secretPath }
    expect(
      source?.id == record.id && source?.revision == record.revision && source?.group == record.group
        && source?.sealed == record.sealed,
      "revision, group and file come from one version")
  }

  /// Checks that each member of a merged record comes from a version.
  private func checkMembers(_ record: ItemRecord) {
    let versions = versions(of: record.id)
    expect(versions.contains { place(of: $0) == place(of: record) }, "the place comes from a version")
    let names = Set((versions + [record]).flatMap(\.attributes.names))
    for name in names {
      let isThere = versions.contains { $0.attributes[name] == record.attributes[name] }
      expect(isThere, "the attribute \(name.text) comes from a version")
    }
    let isKnown = versions.contains { $0.unknown == record.unknown }
    expect(isKnown, "the unknown member comes from a version")
    expect(versions.contains { $0.created == record.created }, "created comes from a version")
    expect(versions.contains { $0.modified == record.modified }, "modified comes from a version")
    expect(
      versions.contains { $0.secretModified == record.secretModified }, "secretModified comes from a version")
    expect(versions.allSatisfy(history.isSigned), "members have signed all versions")
  }

  // MARK: Kept changes

  private func place(of record: ItemRecord) -> PrimaryKey {
    PrimaryKey(itemClass: record.itemClass, attributes: record.attributes, group: "")
  }

  private func isSameVersion(_ left: ItemRecord, _ right: ItemRecord?) -> Bool {
    var left = left
    left.sealed = right?.sealed ?? left.sealed
    return left == right
  }

  private func checkKept(_ record: ItemRecord, _ other: [ItemRecord]) {
    let old = base[record.id]
    let item = items[record.id]
    let copies = result.copies.map(\.record).filter { $0.id == record.id }
    if isSameVersion(record, old) {
      let isElsewhere = other.contains { $0.id == record.id }
      let isAlone = versions(of: record.id).count == (isElsewhere ? 2 : 1)
      let isKept = item != nil || !copies.isEmpty
      expect(isKept == isElsewhere || !isAlone, "an unchanged item is removed if it was deleted")
    } else {
      let versions = copies + (item.map { [$0] } ?? [])
      expect(
        versions.contains { keeps($0, record, since: old) }, "an item or a copy has all changes of a side")
    }
  }

  /// Returns true if a version has each change that another one has made.
  private func keeps(_ version: ItemRecord, _ record: ItemRecord, since old: ItemRecord?) -> Bool {
    if version == record { return true }
    let hasSecret = version.revision == record.revision && version.group == record.group
    let isSecretOld = record.revision == old?.revision && record.group == old?.group
    let isPlaceOld = old.map(place) == place(of: record)
    let names = Set(record.attributes.names + (old?.attributes.names ?? []))
    return (hasSecret || isSecretOld) && (isPlaceOld || place(of: version) == place(of: record))
      && names.allSatisfy { name in
        let value = record.attributes[name]
        return value == old?.attributes[name] || value == version.attributes[name]
      } && (record.unknown == old?.unknown ?? [] || record.unknown == version.unknown)
  }

  private func isOlder(_ record: ItemRecord, than old: ItemRecord) -> Bool {
    record.group == old.group && record.modified < old.modified && !record.isLater(than: old, bySecret: true)
  }

  private func checkTimes() {
    for old in base.values {
      let newest = sides.map { side in side.filter { $0.id == old.id }.map(\.modified).max() }
      if let item = items[old.id], isOlder(item, than: old) {
        let isNewer = newest.contains { $0.map { $0 >= old.modified } ?? false }
        expect(!isNewer, "an item does not go back in time")
      }
      for (index, side) in sides.enumerated() {
        guard let other = newest[1 - index], other >= old.modified else { continue }
        for record in side where record.id == old.id && record != old && isOlder(record, than: old) {
          expect(isCopy(record), "an older version is a copy")
          expect(result.olderVersions.contains(record), "an older version is reported")
        }
      }
    }
    expect(result.olderVersions.allSatisfy(isCopy), "each reported version is a copy")
  }

  // MARK: The same on every clone

  private func checkDirections() {
    let merge = history.merge
    let base = Array(base.values)
    let records = result.items.map(\.record)
    let swapped = merge.merge(base: base, ours: sides[1], theirs: sides[0])
    expect(swapped.items.map(\.record) == records, "both directions give the same items")
    expect(
      swapped.copies.map(\.record) == result.copies.map(\.record), "both directions give the same copies")
    expect(
      lines(swapped.olderVersions) == lines(result.olderVersions),
      "both directions give the same older versions")
    for side in sides {
      // Git finds this base, because the side is an ancestor of the merge.
      let next = merge.merge(base: side, ours: records, theirs: side)
      expect(next.items.map(\.record) == records, "the next merge changes nothing")
      // Two versions of an item that has lost its place can have different places. Only the base of git distinguishes
      // them from an edit that wins over a deletion.
      if sides[0].contains(where: { mine in items[mine.id] == nil && sides[1].contains { $0.id == mine.id } })
      {
        continue
      }
      // Between two versions of the same microsecond, the bytes of the line decide, and those of a merged record do
      // not.
      if sides[0].contains(where: { mine in
        sides[1].contains { $0.id == mine.id && $0.modified == mine.modified && $0 != mine }
      }) {
        continue
      }
      let again = merge.merge(base: base, ours: records, theirs: side)
      expect(again.items.map(\.record) == records, "merging again changes nothing")
      expect(again.copies.allSatisfy { isCopy($0.record) }, "merging again makes no new copy")
    }
    let itself = merge.merge(base: base, ours: records, theirs: records)
    expect(
      itself.items.map(\.record) == records && itself.copies.isEmpty,
      "merging the result with itself changes nothing")
  }

  private func lines(_ records: [ItemRecord]) -> Set<[UInt8]> { Set(records.compactMap(\.line)) }
}
