import KeyringModel
import TestSupport
import Testing

/// The table of decisions in the article about merging, held against the merge itself.
@Suite struct MergeTableTests {
  /// What a side has done, in the words of the table.
  enum Action: String, CaseIterable {
    case nothing = "nothing"
    case label = "a new label"
    case comment = "a new comment"
    case secret = "a new secret"
    case rename = "a new name"
    case group = "another group"
    case reseal = "sealed again"
    case delete = "deleted"
    case add = "adds a name"
    case renameToAdded = "renamed to that name"
  }

  /// A row of the table: what both sides did, the other one later, and what comes of it.
  struct Row: CustomStringConvertible {
    let one: Action
    let other: Action
    let withKey: String
    let withoutKey: String
    var description: String { "\(one.rawValue) | \(other.rawValue)" }
  }

  static func rows() throws -> [Row] {
    let article = try MarkdownDocument("Sources/Keyring/Keyring.docc/Merging.md")
    return try article.table("one side", "the other side, later", "with a key", "without a key").map {
      cells in
      let actions = try cells.prefix(2).map { try #require(Action(rawValue: $0), "\($0)") }
      return Row(
        one: actions[0], other: actions[1], withKey: cells[2],
        withoutKey: cells[3] == "the same" ? cells[2] : cells[3])
    }
  }

  /// A side: its items, and nothing else.
  private typealias State = [ItemRecord]

  private static let names = ["one", "other"]
  private static let base = record(id: 1, account: "me", at: 0)

  private static func record(id: UInt8, account: String, at time: Int64) -> ItemRecord {
    let now = Timestamp(microseconds: 1_700_000_000_000_000 + time)
    guard let itemID = ItemID(hex: digits(id)) else { preconditionFailure("32 digits") }
    return ItemRecord(
      itemClass: .internetPassword, id: itemID, revision: revision(id), created: now, modified: now,
      secretModified: now, group: "default", sealed: ContentDigest(of: [id]),
      attributes: [.server: "a.example", .account: .string(account)])
  }

  private static func digits(_ byte: UInt8) -> String {
    String(repeating: "0", count: 30) + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func revision(_ byte: UInt8) -> Revision {
    guard let revision = Revision(hex: digits(byte)) else { preconditionFailure("32 digits") }
    return revision
  }

  /// What a side has after it did something; `side` is 0 for the earlier one and 1 for the later one.
  private static func state(_ action: Action, side: Int) -> State {
    var item = base
    let time = Timestamp(microseconds: base.modified.microseconds + Int64(side + 1) * 1000)
    let message = ContentDigest(of: [UInt8(100 + side)])
    item.modified = time
    switch action {
    case .nothing: return [base]
    case .delete: return []
    case .label: item.attributes[.label] = .string(names[side])
    case .comment: item.attributes[.comment] = .string(names[side])
    case .secret:
      (item.revision, item.secretModified, item.sealed) = (revision(UInt8(50 + side)), time, message)
    case .rename: (item.attributes[.account], item.sealed) = (.string(names[side]), message)
    case .group: (item.group, item.sealed) = (names[side], message)
    case .reseal:
      item = base
      item.sealed = message
    case .add: return [base, record(id: UInt8(10 + side), account: "new", at: Int64(side + 1) * 1000)]
    case .renameToAdded: (item.attributes[.account], item.sealed) = (.string("new"), message)
    }
    return [item]
  }

  private static func merge(_ base: State, _ ours: State, _ theirs: State, hasKey: Bool) -> [StoreMerge.Item]
  {
    var merge = StoreMerge()
    if hasKey {
      merge.seal = { record, source in
        var sealed = record
        sealed.sealed = ContentDigest(of: record.primaryKey.canonicalJSON)
        return sealed
      }
    }
    func tree(_ state: State) -> StoreMerge.Tree {
      let paths = Set(state.map(\.path))
      return StoreMerge.Tree(records: state) { paths.contains($0) }
    }
    return merge.merge(base: tree(base), ours: tree(ours), theirs: tree(theirs))
  }

  /// What came out, in the words of the table: how each item differs from where the sides parted.
  private static func words(_ items: [StoreMerge.Item], _ row: Row) -> String {
    let isAdded = { (record: ItemRecord) in
      record.revision.hex.hasSuffix("0a") || record.revision.hex.hasSuffix("0b")
    }
    var shown: [String] = []
    for isCopy in [false, true] {
      for item in items where item.record.isConflictCopy == isCopy {
        // Where a name is added, the item that nobody has touched is no part of the story.
        if [row.one, row.other].contains(.add), item.record == base { continue }
        let text = isAdded(item.record) ? added(item.record, row) : facts(item, row)
        shown.append((isCopy ? "copy: " : "") + text)
      }
    }
    return shown.isEmpty ? "gone" : shown.joined(separator: "; ")
  }

  private static func added(_ record: ItemRecord, _ row: Row) -> String {
    guard row.one == row.other else { return "the added item" }
    return record.revision.hex.hasSuffix("0b") ? "the later item" : "the earlier item"
  }

  private static func facts(_ item: StoreMerge.Item, _ row: Row) -> String {
    let record = item.record
    func said(_ name: String, _ side: Bool) -> String {
      row.one == row.other ? "the \(side ? "later" : "earlier") \(name)" : "the new \(name)"
    }
    var facts: [String] = []
    for name in [AttributeName.label, .comment] {
      if case .string(let value)? = record.attributes[name] {
        facts.append(said(name.text, value == "other"))
      }
    }
    if record.revision != base.revision { facts.append(said("secret", record.revision == revision(51))) }
    if case .string(let value)? = record.attributes[.account], value != "me" {
      facts.append(said("name", value == "other"))
    }
    if record.group != base.group { facts.append(said("group", record.group == "other")) }
    if facts.isEmpty { facts.append(record.sealed == base.sealed ? "as it was" : "the new message") }
    return facts.joined(separator: ", ") + (item.source == nil ? ", sealed for both" : "")
  }

  @Test func `the merge comes to what the table says of each row, in both directions, and once is enough`()
    throws
  {
    for row in try Self.rows() {
      let base = [Self.base]
      let (one, other) = (Self.state(row.one, side: 0), Self.state(row.other, side: 1))
      for (hasKey, expected) in [(true, row.withKey), (false, row.withoutKey)] {
        let there = Self.merge(base, one, other, hasKey: hasKey)
        #expect(Self.words(there, row) == expected, "\(row), key: \(hasKey)")
        let records = there.map(\.record)
        #expect(Self.merge(base, other, one, hasKey: hasKey).map(\.record) == records, "\(row)")
        #expect(Self.merge(one, records, one, hasKey: hasKey).map(\.record) == records, "\(row)")
        #expect(Self.merge(base, records, other, hasKey: hasKey).map(\.record) == records, "\(row)")
      }
    }
  }

  @Test func `the table has every pair of what two sides can do to one item`() throws {
    let all = Action.allCases.filter { $0 != .add && $0 != .renameToAdded }
    var missing = Set<String>()
    for (index, one) in all.enumerated() {
      for other in all[index...] { missing.insert("\(one.rawValue) | \(other.rawValue)") }
    }
    missing.remove("\(Action.nothing.rawValue) | \(Action.nothing.rawValue)")
    // Two comments are as two labels.
    missing = missing.filter { !$0.contains(Action.comment.rawValue) }
    let rows = try Self.rows()
    for row in rows { missing.remove("\(row)") }
    #expect(missing.isEmpty, "\(missing)")
    #expect(rows.count { $0.one == .add } == 2)
  }
}
