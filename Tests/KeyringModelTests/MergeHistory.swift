import KeyringModel
import TestSupport

/// A message in the model of a store: what is sealed in a file.
struct ModelMessage: Equatable {
  let id: ItemID
  let revision: Revision
  let key: PrimaryKey
}

/// The state of a clone in a history that is made up from a seed: lines and messages, as values.
struct ModelState: Equatable {
  var records: [ItemID: ItemRecord] = [:]
  var messages: [ItemPath: ContentDigest] = [:]

  var tree: StoreMerge.Tree {
    let messages = messages
    return StoreMerge.Tree(records: Array(records.values)) { messages[$0] != nil }
  }
}

/// What a merge seals, which happens in a function that is handed to it.
private final class Made {
  var messages: [ContentDigest: ModelMessage] = [:]
}

/// Makes random changes and merges, and keeps account of every message that was ever sealed.
struct MergeHistory {
  var generator: SeededGenerator
  private(set) var sealed: [ContentDigest: ModelMessage] = [:]
  private var time: Int64 = 1_700_000_000_000_000
  private var number = 0
  /// Whether a merge can decrypt, so that it makes one item of a renamed one and a new secret.
  var canSeal = true

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func pick<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &generator) }

  private mutating func now() -> Timestamp {
    // Clocks of machines go wrong, and some things happen at once.
    time += Int64.random(in: -2...3, using: &generator)
    return Timestamp(microseconds: time)
  }

  private mutating func seal(_ record: ItemRecord, headerID: ItemID? = nil) -> ContentDigest {
    number += 1
    let digest = ContentDigest(of: Array("message \(number)".utf8))
    sealed[digest] = ModelMessage(
      id: headerID ?? record.id, revision: record.revision, key: record.primaryKey)
    return digest
  }

  private mutating func place() -> (ItemClass, Attributes, String) {
    let group = pick(["default", "default", "ops"]) ?? "default"
    let name = pick(["a", "b", "c", "d"]) ?? "a"
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return (.certificate, [.issuer: "ca", .serialNumber: .string(name)], group)
    case 1: return (.key, [.applicationTag: .string(name), .keyClass: 1], group)
    case 2: return (.genericPassword, [.service: "svc", .account: .string(name)], group)
    default: return (.internetPassword, [.server: "host", .account: .string(name)], group)
    }
  }

  /// Does one thing to a clone.
  mutating func change(_ state: inout ModelState) {
    let own = state.records.values.filter { !$0.isConflictCopy }
      .sorted { $0.path < $1.path }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...2: add(to: &state)
    case 3...4: own.randomElement(using: &generator).map { newSecret(of: $0, in: &state) }
    case 5...6: own.randomElement(using: &generator).map { newAttribute(of: $0, in: &state) }
    case 7: own.randomElement(using: &generator).map { rename($0, in: &state) }
    case 8: own.randomElement(using: &generator).map { reseal($0, in: &state) }
    default: pick(state.records.values.sorted { $0.path < $1.path }).map { remove($0, from: &state) }
    }
  }

  private mutating func add(to state: inout ModelState) {
    let (itemClass, attributes, group) = place()
    let now = now()
    var record = ItemRecord(
      itemClass: itemClass, id: ItemID(using: &generator), revision: Revision(using: &generator),
      created: now, modified: now, secretModified: now, group: group, sealed: ContentDigest(of: []),
      attributes: attributes)
    guard state.messages[record.path] == nil else { return }
    record.sealed = seal(record)
    put(record, into: &state)
  }

  private mutating func newSecret(of record: ItemRecord, in state: inout ModelState) {
    var record = record
    record.revision = Revision(using: &generator)
    record.secretModified = now()
    record.modified = record.secretModified
    record.sealed = seal(record)
    put(record, into: &state)
  }

  private mutating func newAttribute(of record: ItemRecord, in state: inout ModelState) {
    var record = record
    let name = pick([AttributeName.label, .alias, "note"]) ?? .label
    record.attributes[name] = pick([nil, "x", "y", "z"]) ?? nil
    record.modified = now()
    put(record, into: &state)
  }

  private mutating func rename(_ old: ItemRecord, in state: inout ModelState) {
    var record = old
    let (_, attributes, group) = place()
    if record.itemClass == .internetPassword { record.attributes[.account] = attributes[.account] ?? "e" }
    record.group = group
    guard state.messages[record.path] == nil else { return }
    record.modified = now()
    record.sealed = seal(record)
    state.messages[old.path] = nil
    put(record, into: &state)
  }

  private mutating func reseal(_ record: ItemRecord, in state: inout ModelState) {
    var record = record
    record.sealed = seal(record)
    put(record, into: &state)
  }

  private func remove(_ record: ItemRecord, from state: inout ModelState) {
    state.records[record.id] = nil
    state.messages[record.path] = nil
  }

  private func put(_ record: ItemRecord, into state: inout ModelState) {
    state.records[record.id] = record
    state.messages[record.path] = record.sealed
  }

  /// Merges two clones as `StoreMerge` decides, taking the messages from where it says.
  mutating func merge(base: ModelState, _ ours: ModelState, _ theirs: ModelState) -> ModelState {
    var merge = StoreMerge()
    let made = Made()
    if canSeal {
      merge.seal = { [sealed] record, source in
        let state = source.side == .ours ? ours : theirs
        guard let digest = state.messages[source.path], let message = sealed[digest] else { return nil }
        var result = record
        // Alike in both directions, as no real cipher is, so that results can be compared.
        result.sealed = ContentDigest(of: record.primaryKey.canonicalJSON + digest.bytes)
        made.messages[result.sealed] = ModelMessage(
          id: record.id, revision: message.revision, key: record.primaryKey)
        return result
      }
    }
    var result = ModelState()
    for item in merge.merge(base: base.tree, ours: ours.tree, theirs: theirs.tree) {
      result.records[item.record.id] = item.record
      guard let source = item.source else {
        result.messages[item.record.path] = item.record.sealed
        continue
      }
      result.messages[item.record.path] = (source.side == .ours ? ours : theirs).messages[source.path]
    }
    sealed.merge(made.messages) { first, _ in first }
    return result
  }
}
