internal import CommandSupport
package import Encoding
package import Keyring
package import KeyringModel
package import Terminal

/// A finding of an audit. It names items and never contains a secret or a digest.
package enum AuditFinding: Sendable {
  /// Several items have the same secret.
  case reused([ItemRecord])
  /// A password is easy to guess.
  case weak(ItemRecord, Weakness)
  /// A password is in the list of breached passwords.
  case breached(ItemRecord, BreachedPasswords.Breach)
  /// A password has not been changed for a long time.
  case old(ItemRecord)
  /// A password is sent over the network unencrypted.
  case unencrypted(ItemRecord, UnencryptedProtocol)
  /// The key of a reader has expired or cannot be used for another reason.
  case key(UnusableKey, name: String)

  /// The kinds of findings, in the order of the report.
  enum Kind: Int, Comparable {
    case reused, weak, breached, old, unencrypted, expiredKey, unusableKey

    static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }

    /// The name in the output.
    var word: String {
      switch self {
      case .reused: "reused"
      case .weak: "weak"
      case .breached: "breached"
      case .old: "old"
      case .unencrypted: "unencrypted"
      case .expiredKey: "expired-key"
      case .unusableKey: "unusable-key"
      }
    }
  }

  /// The kind of the finding.
  var kind: Kind {
    switch self {
    case .reused: .reused
    case .weak: .weak
    case .breached: .breached
    case .old: .old
    case .unencrypted: .unencrypted
    case .key(let key, _):
      if case .expired = key.problem { .expiredKey } else { .unusableKey }
    }
  }
}

/// An item that was not examined.
package struct UnexaminedItem: Sendable {
  /// The reason why an item was not examined.
  package enum Reason: Sendable {
    /// The user is not a member of the item's group.
    case otherGroup
    /// The item cannot be decrypted.
    case unreadable(KeyringError)
  }

  let record: ItemRecord
  let reason: Reason

  init(_ record: ItemRecord, _ reason: Reason) {
    self.record = record
    self.reason = reason
  }
}

/// The result of an audit.
package struct AuditReport: Sendable {
  /// The number of items that were to be examined.
  let items: Int
  /// The number of items that were examined.
  var examined = 0
  /// The findings, sorted by their kinds and the order of the items.
  package var findings: [AuditFinding] = []
  /// The other items.
  var unexamined: [UnexaminedItem] = []
  /// False if the strength of passwords could not be estimated.
  package var knowsStrength = true

  init(items: Int) { self.items = items }

  /// True if an item cannot be decrypted although the user is a member of its group.
  package var hasUnreadableItem: Bool {
    unexamined.contains { if case .unreadable = $0.reason { true } else { false } }
  }
}

// MARK: - JSON

extension AuditReport {
  /// The report as JSON: an object for each finding, one for each item that was not examined, and a summary.
  package var json: [JSONValue] {
    findings.map(\.json) + unexamined.map(\.json) + [
      .object([
        JSONMember("examined", .integer(Int64(examined))),
        JSONMember("findings", .integer(Int64(findings.count))), JSONMember("items", .integer(Int64(items))),
        JSONMember("notExamined", .integer(Int64(unexamined.count))),
        JSONMember("strengthEstimated", .bool(knowsStrength)),
      ])
    ]
  }
}

extension AuditFinding {
  fileprivate var json: JSONValue {
    let finding = JSONMember("finding", .string(kind.word))
    func object(_ record: ItemRecord, _ more: [JSONMember]) -> JSONValue {
      .object([finding, JSONMember("item", .string(record.reference.text))] + more)
    }
    switch self {
    case .reused(let records):
      return .object([finding, JSONMember("items", .array(records.map { .string($0.reference.text) }))])
    case .weak(let record, let weakness):
      return object(record, [JSONMember("strength", .string(weakness.rawValue))])
    case .breached(let record, let breach):
      let count = breach.count.map { [JSONMember("count", .integer(Int64($0)))] } ?? []
      return object(record, count + (breach.isPrefix ? [JSONMember("prefix", .bool(true))] : []))
    case .old(let record):
      return object(record, [JSONMember("secretModified", .string(record.secretModified.rfc3339))])
    case .unencrypted(let record, let name):
      return object(record, [JSONMember("protocol", .string(name.name))])
    case .key(let key, let name):
      return .object([
        finding, JSONMember("fingerprint", .string(key.person.text)),
        JSONMember("groups", .array(key.groups.map(JSONValue.string))), JSONMember("person", .string(name)),
        JSONMember("text", .string(key.problem.message)),
      ])
    }
  }
}

extension UnexaminedItem {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember("group", .string(record.group)), JSONMember("item", .string(record.reference.text)),
    ]
    switch reason {
    case .otherGroup: members.append(JSONMember("notExamined", .string("other-group")))
    case .unreadable(let error):
      members.append(JSONMember("notExamined", .string("unreadable")))
      members.append(JSONMember("text", .string(Self.message(error))))
    }
    return .object(members)
  }

  fileprivate static func message(_ error: KeyringError) -> String {
    ErrorReport(describing: error).message ?? "it cannot be decrypted"
  }
}

// MARK: - Tables

extension AuditReport {
  /// The rows of one finding.
  private struct Section {
    let finding: String
    /// The meaning of the details.
    let heading: String
    var rows: [(item: String, detail: String)] = []
  }

  /// Prints the report: on a terminal a table for each finding, with the names that people type, fitted to the width;
  /// in a pipe a line for each item, with its reference, and nothing is cut.
  package func print(to console: Console) {
    let sections = self.sections(names: console.outputIsTerminal)
    guard console.outputIsTerminal else {
      var table = Table(["finding", "item", "detail"], isTerminal: false)
      for section in sections {
        for row in section.rows { table.add([section.finding, row.item, row.detail]) }
      }
      return console.write(table)
    }
    for (number, section) in sections.enumerated() {
      if number > 0 { console.write("\n") }
      console.write(Self.table(section, width: console.width))
    }
  }

  /// Returns the table of a section. The details get at most half of the width, and the names what remains.
  private static func table(_ section: Section, width: Int) -> Table {
    let rows = section.rows.map { (Escaping.terminal.show($0.item), Escaping.terminal.show($0.detail)) }
    // Two columns separate the cells.
    let room = max(2, width - 2)
    let widest = rows.map { DisplayWidth.of($0.1) }.max() ?? 0
    let names = max(section.finding.count, rows.map { DisplayWidth.of($0.0) }.max() ?? 0)
    let detail = max(1, min(widest, max(room - names, room / 2)))
    var table = Table([section.finding, section.heading], isTerminal: true, cellWidth: nil)
    for (item, text) in rows {
      table.add([DisplayWidth.cut(item, to: max(1, room - detail)), DisplayWidth.cut(text, to: detail)])
    }
    return table
  }

  private func sections(names: Bool) -> [Section] {
    let typed = names ? TypedNames(of: findings.flatMap(\.records) + unexamined.map(\.record)) : nil
    func name(_ record: ItemRecord) -> String { typed?.name(of: record) ?? record.reference.text }
    var sections: [Section] = []
    func add(_ finding: String, _ heading: String, _ item: String, _ detail: String) {
      if sections.last?.finding != finding { sections.append(Section(finding: finding, heading: heading)) }
      sections[sections.count - 1].rows.append((item, detail))
    }
    var sets = 0
    for finding in findings {
      let word = finding.kind.word
      switch finding {
      case .reused(let records):
        sets += 1
        for record in records { add(word, "set", name(record), "\(sets)") }
      case .weak(let record, let weakness): add(word, "strength", name(record), weakness.rawValue)
      case .breached(let record, let breach):
        let times = breach.count.map(String.init)
        add(
          word, "times", name(record),
          breach.isPrefix ? times.map { "\($0) (prefix)" } ?? "prefix" : times ?? "unknown")
      case .old(let record): add(word, "since", name(record), Self.day(record.secretModified))
      case .unencrypted(let record, let protocolName): add(word, "protocol", name(record), protocolName.name)
      case .key(let key, let person):
        let owner = person.isEmpty ? key.person.text : person
        let groups = key.groups.joined(separator: ", ")
        if case .expired(let time) = key.problem {
          add(word, "since, groups", owner, "\(Self.day(time)), \(groups)")
        } else {
          add(word, "reason, groups", owner, "\(key.problem.message), \(groups)")
        }
      }
    }
    for item in unexamined {
      let reason =
        switch item.reason {
        case .otherGroup: "group \(item.record.group)"
        case .unreadable(let error): UnexaminedItem.message(error)
        }
      add("not-examined", "reason", name(item.record), reason)
    }
    return sections
  }

  private static func day(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }

  /// The sentences with the numbers, for people.
  package var summary: [String] {
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    let found = findings.isEmpty ? "nothing was found" : count(findings.count, "finding")
    var lines = ["\(count(examined, "item")) examined, \(found)."]
    let others = unexamined.count { if case .otherGroup = $0.reason { true } else { false } }
    if others > 0 {
      lines.append("\(count(others, "item")) not examined, of groups that you are not a member of.")
    }
    if findings.contains(where: { $0.kind < .unencrypted }) {
      lines.append(
        "hint: change a password where it is used, then store it with `keytree set ITEM --secret`.")
    }
    return lines
  }
}

extension AuditFinding {
  /// The items of the finding.
  fileprivate var records: [ItemRecord] {
    switch self {
    case .reused(let records): records
    case .weak(let record, _), .breached(let record, _), .old(let record), .unencrypted(let record, _):
      [record]
    case .key: []
    }
  }
}

/// The names that a user would type for some items. Items with equal names get the attributes that distinguish them.
private struct TypedNames {
  /// The items with each name, by their paths.
  private let items: [String: [ItemPath: ItemRecord]]

  init(of records: [ItemRecord]) {
    items = records.reduce(into: [:]) { $0[$1.typedName, default: [:]][$1.path] = $1 }
  }

  func name(of record: ItemRecord) -> String {
    let name = record.typedName
    let others = items[name, default: [:]].values
    let facts = record.distinctions
    let shown = facts.indices.filter { index in others.contains { $0.distinctions[index] != facts[index] } }
    let words = shown.map { facts[$0] }.filter { !$0.isEmpty }
    return words.isEmpty ? name : "\(name) (\(words.joined(separator: ", ")))"
  }
}

extension ItemRecord {
  /// The name that a user would type: `github.com/alice`, `generic:mailer/bot`, `github.com/alice --field pin`.
  fileprivate var typedName: String {
    let account = Self.text(accountValue)
    let name = account.isEmpty ? Self.text(container) : "\(Self.text(container))/\(account)"
    let item = itemClass == .genericPassword ? "generic:\(name)" : name
    return field.map { "\(item) --field \($0)" } ?? item
  }

  /// The facts that distinguish items with the same name; empty for those that the item does not have.
  fileprivate var distinctions: [String] {
    let port = Self.text(attributes[.port])
    return [
      Self.text(attributes[.protocol]), port.isEmpty ? "" : "port \(port)", Self.text(attributes[.path]),
      "group \(group)",
    ]
  }

  private static func text(_ value: AttributeValue?) -> String {
    String(decoding: value?.shownBytes ?? [], as: UTF8.self)
  }
}
