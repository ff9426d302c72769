import Encoding
import Foundation
import KeyringModel
import Testing

/// The table of decisions in the article about merging, compared with the merge itself.
@Suite(.serialized)
struct MergeTableTests {
  /// The change of one side, as the table names it.
  enum Action: String, CaseIterable {
    case nothing = "nothing"
    case label = "a new label"
    case comment = "a new comment"
    case secret = "a new secret"
    case rename = "a new name"
    case group = "another group"
    case reencrypt = "re-encrypted"
    case delete = "deleted"
    case add = "adds a name"
    case renameToAdded = "renamed to that name"
  }

  /// A row of the table: the changes of both sides, of which the other one is later, and the results.
  struct Row: CustomStringConvertible {
    let one: Action
    let other: Action
    let byMember: String
    let byOthers: String
    var description: String { "\(one.rawValue) | \(other.rawValue)" }
  }

  static func rows() throws -> [Row] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = root.appendingPathComponent("Sources/Keyring/Keyring.docc/Merging.md")
    let lines = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "\n")
    let head = "| one side | the other side, later | merged by a member | merged by others |"
    let start = try #require(lines.firstIndex(of: head))
    return try lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: [" "]) }
      try #require(cells.count == 4, "\(line)")
      let actions = try cells.prefix(2).map { try #require(Action(rawValue: $0), "\($0)") }
      return Row(
        one: actions[0], other: actions[1], byMember: cells[2],
        byOthers: cells[3] == "the same" ? cells[2] : cells[3])
    }
  }

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

  /// The items of a side after an action; `side` is 0 for the earlier one and 1 for the later one.
  private static func state(_ action: Action, side: Int) -> [ItemRecord] {
    var item = base
    let time = Timestamp(microseconds: base.modified.microseconds + Int64(side + 1) * 1000)
    let file = ContentDigest(of: [UInt8(100 + side)])
    item.modified = time
    switch action {
    case .nothing: return [base]
    case .delete: return []
    case .label: item.attributes[.label] = .string(names[side])
    case .comment: item.attributes[.comment] = .string(names[side])
    case .secret:
      (item.revision, item.secretModified, item.sealed) = (revision(UInt8(50 + side)), time, file)
    case .rename: item.attributes[.account] = .string(names[side])
    case .group: (item.group, item.sealed) = (names[side], file)
    case .reencrypt:
      item = base
      item.sealed = file
    case .add: return [base, record(id: UInt8(10 + side), account: "new", at: Int64(side + 1) * 1000)]
    case .renameToAdded: item.attributes[.account] = "new"
    }
    return [item]
  }

  private static func merge(
    _ base: [ItemRecord], _ ours: [ItemRecord], _ theirs: [ItemRecord], canSign: Bool
  ) -> StoreMerge.Result {
    var merge = StoreMerge()
    merge.canSign = { _, _, _ in canSign }
    return merge.merge(base: base, ours: ours, theirs: theirs)
  }

  /// The result as the table describes it: how each version differs from the base.
  private static func description(_ result: StoreMerge.Result, _ row: Row) -> String {
    // In a row that adds a name, the item that no side has changed is left out.
    let items = result.items.map(\.record).filter { !([row.one, row.other].contains(.add) && $0 == base) }
    let shown = items.map { changes($0, row) } + result.copies.map { "copy: " + changes($0.record, row) }
    return shown.isEmpty ? "gone" : shown.joined(separator: "; ")
  }

  private static func changes(_ record: ItemRecord, _ row: Row) -> String {
    func name(_ part: String, isLater: Bool) -> String {
      row.one == row.other ? "the \(isLater ? "later" : "earlier") \(part)" : "the new \(part)"
    }
    if record.id != base.id {
      return row.one == row.other ? name("item", isLater: record.revision == revision(11)) : "the added item"
    }
    var changes: [String] = []
    for attribute in [AttributeName.label, .comment] {
      if let value = record.attributes[attribute] {
        changes.append(name(attribute.text, isLater: value == "other"))
      }
    }
    if record.revision != base.revision {
      changes.append(name("secret", isLater: record.revision == revision(51)))
    }
    if let value = record.attributes[.account], value != "me" {
      changes.append(name("name", isLater: value == "other"))
    }
    if record.group != base.group { changes.append(name("group", isLater: record.group == "other")) }
    // A new secret and a new group come with a new file.
    let hasNewFile =
      record.revision == base.revision && record.group == base.group && record.sealed != base.sealed
    if hasNewFile { changes.append("the new file") }
    return changes.isEmpty ? "as it was" : changes.joined(separator: ", ")
  }

  @Test func `the merge gives the results in each row of the table, in both directions, and is idempotent`()
    throws
  {
    for row in try Self.rows() {
      let base = [Self.base]
      let (one, other) = (Self.state(row.one, side: 0), Self.state(row.other, side: 1))
      for (canSign, expected) in [(true, row.byMember), (false, row.byOthers)] {
        let result = Self.merge(base, one, other, canSign: canSign)
        #expect(Self.description(result, row) == expected, "\(row), can sign: \(canSign)")
        let swapped = Self.merge(base, other, one, canSign: canSign)
        #expect(Self.description(swapped, row) == expected, "\(row), can sign: \(canSign)")
        let records = result.items.map(\.record)
        #expect(swapped.items.map(\.record) == records, "\(row)")
        for side in [one, other] {
          #expect(Self.merge(side, records, side, canSign: canSign).items.map(\.record) == records, "\(row)")
          #expect(Self.merge(base, records, side, canSign: canSign).items.map(\.record) == records, "\(row)")
        }
      }
    }
  }

  @Test func `the table has every pair of changes that two sides can make to one item`() throws {
    let all = Action.allCases.filter { $0 != .add && $0 != .renameToAdded }
    var missing = Set<String>()
    for (index, one) in all.enumerated() {
      for other in all[index...] { missing.insert("\(one.rawValue) | \(other.rawValue)") }
    }
    missing.remove("\(Action.nothing.rawValue) | \(Action.nothing.rawValue)")
    // Two comments are merged like two labels.
    missing = missing.filter { !$0.contains(Action.comment.rawValue) }
    let rows = try Self.rows()
    for row in rows { missing.remove("\(row)") }
    #expect(missing.isEmpty, "\(missing)")
    #expect(rows.count { $0.one == .add } == 2)
  }
}
