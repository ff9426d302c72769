import Encoding
import KeyringModel
import TestSupport

/// The items of a commit, by the path of their files. A forged record can name another path than that of its files.
typealias ModelTree = [ItemPath: ItemRecord]

extension ItemRecord {
  /// The line of the record: equal for equal records, and nil for a record that cannot be written.
  var line: [UInt8]? { try? IndexLine.encode(self) }
}

/// A generator of random changes, forgeries and merges that knows every record that a member has signed.
struct MergeHistory {
  /// The groups that the merging user can sign for.
  enum Signer: CaseIterable {
    case all
    case none
    case defaultGroup
  }

  var generator: SeededGenerator
  var signer = Signer.all
  /// The lines of all records that members have signed.
  private(set) var signed: Set<[UInt8]> = []
  /// All of these records, in the order in which they were signed.
  private var past: [ItemRecord] = []
  private var time: Int64 = 1_700_000_000_000_000
  private var number = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Returns true for a record that a member has signed.
  func isSigned(_ record: ItemRecord) -> Bool { record.line.map(signed.contains) ?? false }

  /// Merges two trees as the signer of this history.
  var merge: StoreMerge {
    var merge = StoreMerge()
    switch signer {
    case .all: break
    case .none: merge.canSign = { _, _, _ in false }
    case .defaultGroup: merge.canSign = { record, _, _ in record.group == "default" }
    }
    return merge
  }

  /// Signs the merged records and returns the tree that has them.
  mutating func commit(_ result: StoreMerge.Result) -> ModelTree {
    var tree: ModelTree = [:]
    for item in result.items {
      if item.recordSide == nil { sign(item.record) }
      tree[item.record.path] = item.record
    }
    return tree
  }

  // MARK: Changes of members

  /// Makes one random change.
  mutating func change(_ tree: inout ModelTree) {
    guard let record = pick(tree) else { return add(to: &tree) }
    switch Int.random(in: 0..<11, using: &generator) {
    case 0...2: add(to: &tree)
    case 3...4: changeSecret(of: record, in: &tree)
    case 5...6: changeAttribute(of: record, in: &tree)
    case 7: rename(record, in: &tree)
    case 8: changeGroup(of: record, in: &tree)
    case 9: put(resealed(record), into: &tree)
    default: tree[record.path] = nil
    }
  }

  private mutating func add(to tree: inout ModelTree) {
    let (itemClass, attributes) = place()
    let now = now()
    put(
      ItemRecord(
        itemClass: itemClass, id: ItemID(using: &generator), revision: Revision(using: &generator),
        created: now, modified: now, secretModified: now,
        group: ["default", "default", "ops"].randomElement(using: &generator) ?? "default",
        sealed: newFile(), attributes: attributes),
      into: &tree)
  }

  private mutating func changeSecret(of old: ItemRecord, in tree: inout ModelTree) {
    var record = resealed(old)
    record.revision = Revision(using: &generator)
    record.secretModified = max(now(), old.created)
    record.modified = record.secretModified
    put(record, into: &tree)
  }

  private mutating func changeAttribute(of old: ItemRecord, in tree: inout ModelTree) {
    var record = old
    let value = ["", "x", "y", "z"].randomElement(using: &generator) ?? ""
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: record.attributes[.label] = value.isEmpty ? nil : .string(value)
    case 1: record.attributes["remark"] = value.isEmpty ? nil : .string(value)
    case 2: record.attributes["note"] = value.isEmpty ? nil : .string(value)
    default: record.unknown = value.isEmpty ? [] : [JSONMember("newer", .string(value))]
    }
    record.modified = max(now(), old.secretModified)
    put(record, into: &tree)
  }

  private mutating func rename(_ old: ItemRecord, in tree: inout ModelTree) {
    var record = old
    record.attributes.merge(attributes(of: old.itemClass))
    record.modified = max(now(), old.secretModified)
    put(record, from: old.path, into: &tree)
  }

  private mutating func changeGroup(of old: ItemRecord, in tree: inout ModelTree) {
    var record = resealed(old)
    record.group = old.group == "default" ? "ops" : "default"
    record.modified = max(now(), old.secretModified)
    put(record, from: old.path, into: &tree)
  }

  private mutating func put(_ record: ItemRecord, from old: ItemPath? = nil, into tree: inout ModelTree) {
    let isFree = tree[record.path].map { $0.id == record.id } ?? true
    guard isFree else { return }
    if let old { tree[old] = nil }
    sign(record)
    tree[record.path] = record
  }

  private mutating func sign(_ record: ItemRecord) {
    guard let line = record.line else { return }
    if signed.insert(line).inserted { past.append(record) }
  }

  // MARK: Forgeries

  /// Changes a tree like an attacker who can push but cannot sign.
  mutating func forge(_ tree: inout ModelTree) {
    guard let victim = pick(tree) else { return }
    var forged = victim
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: forged.group = victim.group == "default" ? "ops" : "default"
    case 1: forged.attributes.merge(attributes(of: victim.itemClass))
    case 2: forged.id = pick(tree)?.id ?? ItemID(using: &generator)
    case 3: forged.revision = Revision(using: &generator)
    case 4: forged.modified = .latest
    case 5: forged.sealed = newFile()
    // A record that was signed for another place, or in the past.
    case 6: forged = pick(tree) ?? victim
    case 7: forged = past.randomElement(using: &generator) ?? victim
    default: forged.attributes[.label] = "forged"
    }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: tree[forged.path] = forged
    case 1:
      tree[victim.path] = nil
      tree[forged.path] = forged
    case 2: tree[ItemPath(freePlace())] = forged
    default: tree[victim.path] = forged
    }
  }

  /// Returns the effective records of a tree, as `TreeMerge` chooses them: a change that is not accepted is treated as
  /// if it had not been made.
  func effective(_ tree: ModelTree, base: ModelTree) -> ModelTree {
    var effective: ModelTree = [:]
    for (path, record) in tree {
      let isBelieved = record.path == path && isSigned(record)
      effective[path] = isBelieved ? record : base[path]
    }
    return effective
  }

  // MARK: Random values

  private mutating func pick(_ tree: ModelTree) -> ItemRecord? {
    tree.sorted { $0.key < $1.key }.map(\.value).randomElement(using: &generator)
  }

  private mutating func now() -> Timestamp {
    // The clocks of machines can be wrong, and some changes happen at the same time.
    time += Int64.random(in: -2...3, using: &generator)
    return Timestamp(microseconds: time)
  }

  private mutating func newFile() -> ContentDigest {
    number += 1
    return ContentDigest(of: Array("file \(number)".utf8))
  }

  private mutating func resealed(_ record: ItemRecord) -> ItemRecord {
    var record = record
    record.sealed = newFile()
    return record
  }

  private mutating func place() -> (ItemClass, Attributes) {
    let classes: [ItemClass] = [.internetPassword, .internetPassword, .genericPassword, .certificate]
    let itemClass = classes.randomElement(using: &generator) ?? .internetPassword
    return (itemClass, attributes(of: itemClass))
  }

  private mutating func attributes(of itemClass: ItemClass) -> Attributes {
    let name = AttributeValue.string(["a", "b", "c"].randomElement(using: &generator) ?? "a")
    switch itemClass {
    case .certificate: return [.issuer: "ca", .serialNumber: name]
    case .genericPassword: return [.service: "svc", .account: name]
    default:
      var attributes: Attributes = [.server: "host", .account: name]
      if Bool.random(using: &generator) { attributes[.field] = "otp" }
      return attributes
    }
  }

  private mutating func freePlace() -> PrimaryKey {
    number += 1
    return PrimaryKey(
      itemClass: .genericPassword, attributes: [.service: "free", .account: .string("\(number)")],
      group: "default")
  }
}
