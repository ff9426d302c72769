import Foundation
import KeyringModel
import TestSupport
import Testing

/// The laws of merging, over histories that are made up from seeds.
struct MergeTests {
  /// What a clone has made since the sides parted, and therefore must still be there.
  private static func made(in state: ModelState, since base: ModelState) -> [(ItemID, String)] {
    state.records.values.filter { !$0.isConflictCopy }.flatMap { record in
      let old = base.records[record.id]
      var facts: [(ItemID, String)] = []
      if record.revision != old?.revision { facts.append((record.id, "secret \(record.revision)")) }
      if record.primaryKey != old?.primaryKey { facts.append((record.id, "place \(record.path.original)")) }
      for entry in record.attributes.entries where entry.value != old?.attributes[entry.name] {
        facts.append((record.id, "\(entry.name.text) \(entry.value)"))
      }
      return facts
    }
  }

  /// What an item and its conflict copies say together.
  private static func facts(of id: ItemID, in state: ModelState, _ history: MergeHistory) -> Set<String> {
    var facts: Set<String> = []
    for record in state.records.values {
      let message = state.messages[record.path].flatMap { history.sealed[$0] }
      guard record.id == id || message?.id == id else { continue }
      facts.insert("secret \(record.revision)")
      facts.insert("place \(record.path.original)")
      for entry in record.attributes.entries { facts.insert("\(entry.name.text) \(entry.value)") }
    }
    return facts
  }

  /// Lines and messages agree, and nothing is in two places.
  private static func checkAgreement(_ state: ModelState, _ history: MergeHistory, _ comment: Comment) {
    #expect(Set(state.records.values.map(\.path)) == Set(state.messages.keys), comment)
    #expect(state.messages.count == state.records.count, comment)
    for record in state.records.values {
      guard let digest = state.messages[record.path], let message = history.sealed[digest] else {
        Issue.record("no message: \(record.path) \(comment)")
        continue
      }
      #expect(record.sealed == digest, comment)
      #expect(message.revision == record.revision, comment)
      #expect(message.key == record.primaryKey, comment)
      let isBound = message.id == record.id || record.isConflictCopy && record.id.isCopy(of: message.id)
      #expect(isBound, comment)
    }
  }

  /// Whether two states are the same; without printing them whole.
  private static func same(_ left: ModelState, _ right: ModelState, _ comment: Comment) {
    let isSame = left == right
    #expect(isSame, comment)
  }

  private static func check(
    _ result: ModelState, base: ModelState, _ ours: ModelState, _ theirs: ModelState,
    _ history: inout MergeHistory, _ comment: Comment
  ) {
    checkAgreement(result, history, comment)
    for (side, other) in [(ours, theirs), (theirs, ours)] {
      for (id, fact) in made(in: side, since: base) {
        // What the other side has undone was there in the base, so it is not among these facts.
        let isKept = facts(of: id, in: result, history).contains(fact)
        #expect(isKept, "lost: \(id) \(fact), \(comment)")
      }
      for record in side.records.values where result.records[record.id] == nil {
        // Gone: the other side has deleted it, and it was not changed here.
        let old = base.records[record.id]
        #expect(other.records[record.id] == nil, comment)
        var same = record
        same.sealed = old?.sealed ?? record.sealed
        #expect(same == old, comment)
      }
    }
    for record in result.records.values where !record.isConflictCopy {
      #expect(ours.records[record.id] != nil || theirs.records[record.id] != nil, comment)
      let old = base.records[record.id]
      let isDeleted = old != nil && [ours, theirs].contains { $0.records[record.id] == nil }
      let isUnchanged = [ours, theirs].allSatisfy { side in
        side.records[record.id].map { mine in
          var mine = mine
          mine.sealed = old?.sealed ?? mine.sealed
          return mine == old
        } ?? true
      }
      #expect(!(isDeleted && isUnchanged), "came back: \(record.path) \(comment)")
    }
    same(history.merge(base: base, theirs, ours), result, "the other direction, \(comment)")
    same(history.merge(base: base, result, theirs), result, "again with theirs, \(comment)")
    same(history.merge(base: base, result, ours), result, "again with ours, \(comment)")
    same(history.merge(base: theirs, result, theirs), result, "theirs is in it, \(comment)")
  }

  /// How many histories are tried: `KEYTREE_MERGE_SEEDS=10000 swift test --filter MergeTests` tries more.
  private static let seeds =
    ProcessInfo.processInfo.environment["KEYTREE_MERGE_SEEDS"].flatMap(UInt64.init) ?? 400

  @Test(arguments: 0..<20)
  func `random histories of three clones merge without loss, alike in both directions`(block: UInt64) {
    for seed in stride(from: block, to: Self.seeds, by: 20) {
      var history = MergeHistory(seed: seed)
      history.canSeal = seed % 3 != 0
      let clones = seed % 2 == 0 ? 2 : 3
      var shared = ModelState()
      for _ in 0..<3 { history.change(&shared) }
      // What each clone has, and what it had after its last look at the others.
      var states = Array(repeating: shared, count: clones)
      var bases = states
      for round in 0..<6 {
        for clone in 0..<clones {
          for _ in 0..<Int.random(in: 0...3, using: &history.generator) { history.change(&states[clone]) }
        }
        let clone = Int.random(in: 0..<clones, using: &history.generator)
        let merged = history.merge(base: bases[clone], states[clone], shared)
        Self.check(
          merged, base: bases[clone], states[clone], shared, &history, "seed \(seed), round \(round)")
        (shared, states[clone], bases[clone]) = (merged, merged, merged)
      }
    }
  }
}
