package import Encoding
internal import Interchange
internal import KeyringModel

extension ImportReport.Entry {
  /// The entry as one line for people, for example `row 17, note: added as github.com/alice --field note`.
  ///
  /// The line may contain any character of the source, so the caller must escape it for a terminal.
  package var line: String { line(isPlan: false) }

  /// Returns the line for a completed import, or for a plan.
  fileprivate func line(isPlan: Bool) -> String {
    var where_ = source.text
    if part != .secret { where_ += ", \(part.text)" }
    let notes = remarks.map { "; \($0.text)" }.joined()
    return "\(where_): \(outcome.text(item, isPlan: isPlan))\(notes)"
  }

  /// The entry for programs, without any secret.
  package var json: JSONValue {
    var members = [JSONMember("outcome", .string(outcome.word)), JSONMember("part", .string(part.text))]
    switch source {
    case .row(let number): members.append(JSONMember("row", .integer(Int64(number))))
    case .file(let path): members.append(JSONMember("file", JSONValue(AttributeValue(text: path))))
    case .line(let number): members.append(JSONMember("line", .integer(Int64(number))))
    case .entry(let number, let title):
      members.append(JSONMember("entry", .integer(Int64(number))))
      members.append(JSONMember("title", JSONValue(AttributeValue(text: title))))
    }
    if let path { members.append(JSONMember("path", .string(path.text))) }
    members += outcome.details
    if !remarks.isEmpty {
      members.append(JSONMember("remarks", .array(remarks.map { .string($0.text) })))
    }
    return .object(members)
  }
}

extension ImportReport {
  /// Returns the report for people: every entry that needs attention, then the counts.
  ///
  /// - Parameters:
  ///   - all: true if the list includes the entries that need no attention.
  ///   - isPlan: true if the import is only planned: then the counts of each kind, if there are several, come before the
  ///     sum.
  /// - Returns: the lines, without line ends.
  package func lines(all: Bool, isPlan: Bool = false) -> [String] {
    let lines = entries.filter { all || $0.needsAttention }.map { $0.line(isPlan: isPlan) }
    guard isPlan else { return lines + [summary] }
    return lines + (kinds.count > 1 ? kinds : []) + ["plan: \(summary)"]
  }

  /// The counts of each kind of item, one line for each kind that occurs.
  private var kinds: [String] {
    ImportKind.allCases.compactMap { kind in
      let report = ImportReport(entries: entries.filter { $0.item != nil && ImportKind($0.part) == kind })
      return report.entries.isEmpty ? nil : "\(kind.rawValue): \(report.summary)"
    }
  }

  /// The entries that are not imported, one line each.
  package var losses: [String] { entries.filter { $0.outcome.isLoss }.map(\.line) }

  /// The counts in one line. A count of zero is omitted, except that of the added items.
  package var summary: String {
    let counts = counts
    let parts = [
      (counts.added, "added"), (counts.beside, "of them renamed because of a name conflict"),
      (counts.joined, "merged with an identical one"), (counts.completed, "completed"),
      (counts.duplicates, "duplicates"), (counts.alreadyThere, "already in the store"),
      (counts.replaced, "replaced"), (counts.different, "different in the store and not imported"),
      (counts.inOtherGroup, "in another group and not imported"), (counts.skipped, "skipped"),
      (counts.lost, "NOT imported"), (counts.passkeys, "of them passkeys"),
    ]
    return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
      .map { "\($0.element.0) \($0.element.1)" }.joined(separator: ", ")
  }

  /// Returns the counts, for programs.
  ///
  /// - Parameter isApplied: true if the import was done, false if the counts are those of a plan.
  package func summaryJSON(isApplied: Bool) -> JSONValue {
    let counts = counts
    return .object([
      JSONMember("added", .integer(Int64(counts.added))),
      JSONMember("applied", .bool(isApplied)),
      JSONMember("alreadyThere", .integer(Int64(counts.alreadyThere))),
      JSONMember("beside", .integer(Int64(counts.beside))),
      JSONMember("completed", .integer(Int64(counts.completed))),
      JSONMember("different", .integer(Int64(counts.different))),
      JSONMember("duplicates", .integer(Int64(counts.duplicates))),
      JSONMember("joined", .integer(Int64(counts.joined))),
      JSONMember("lost", .integer(Int64(counts.lost))),
      JSONMember("otherGroup", .integer(Int64(counts.inOtherGroup))),
      JSONMember("passkeys", .integer(Int64(counts.passkeys))),
      JSONMember("replaced", .integer(Int64(counts.replaced))),
      JSONMember("skipped", .integer(Int64(counts.skipped))),
    ])
  }
}

extension ImportReport.Entry {
  fileprivate var needsAttention: Bool {
    switch outcome {
    case .added: !remarks.isEmpty
    case .addedBeside, .replaced, .different, .inOtherGroup, .lost: true
    case .skipped(let reason): reason.needsAttention
    case .alreadyThere, .completed, .duplicate, .joined: false
    }
  }
}

extension ImportSkip {
  /// True for an entry that the user may miss. Folders and empty entries have no data.
  fileprivate var needsAttention: Bool {
    switch self {
    case .folder, .empty: false
    case .alias, .folderLink, .trash, .fieldLink: true
    }
  }
}

/// The kinds of items that the report of an import or an export counts.
enum ImportKind: String, CaseIterable {
  case login = "logins"
  case note = "notes"
  case oneTimePassword = "one-time passwords"
  case other = "other fields"

  init(_ part: ImportPart) {
    switch part {
    case .secret: self = .login
    case .note: self = .note
    case .oneTimePassword: self = .oneTimePassword
    case .column: self = .other
    }
  }
}

extension PrimaryKey {
  /// The attributes that tell an imported password from another one of its name, in parentheses; empty if it has none.
  fileprivate var furtherDetails: String {
    let details = [AttributeName.path, .securityDomain].compactMap { name in
      self[name].map { "\(name.text) \(ItemRecord.visible($0.shownBytes))" }
    }
    return details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
  }
}

extension ImportOutcome {
  fileprivate func text(_ key: PrimaryKey?, isPlan: Bool) -> String {
    let (added, has) = isPlan ? ("will be added as", "will have") : ("added as", "now has")
    let item = key?.name ?? "no item"
    switch self {
    case .added: return "\(added) \(item)"
    case .addedBeside:
      return "\(added) \(item)\(key?.furtherDetails ?? ""), because another item has its name"
    case .joined(let earlier, let names):
      return "same secret as \(earlier.text) (\(item)), which \(has) \(list(names)) as well"
    case .completed(let names): return "already in the store as \(item), which \(has) \(list(names)) as well"
    case .duplicate(let earlier): return "same as \(earlier.text) (\(item))"
    case .alreadyThere: return "already in the store as \(item)"
    case .replaced: return "\(isPlan ? "will replace" : "replaced") the secret of \(item)"
    case .different: return "NOT imported: \(item) has another secret; `--update` replaces it"
    case .inOtherGroup(let group):
      return "NOT imported: the group \(group) has this login; choose a group with `-g`"
    case .skipped(let reason): return "skipped: \(reason.text)"
    case .lost(let reason): return "NOT imported: \(reason.text)"
    }
  }

  fileprivate var details: [JSONMember] {
    switch self {
    case .added, .addedBeside, .alreadyThere, .replaced, .different: []
    case .inOtherGroup(let group): [JSONMember("group", .string(group))]
    case .joined(let earlier, let names):
      [JSONMember("sameAs", .string(earlier.text)), JSONMember("attributes", array(names))]
    case .completed(let names): [JSONMember("attributes", array(names))]
    case .duplicate(let earlier): [JSONMember("sameAs", .string(earlier.text))]
    case .skipped(let reason): [JSONMember("reason", .string(reason.text))]
    case .lost(let reason): [JSONMember("reason", .string(reason.text))]
    }
  }

  private func list(_ names: [AttributeName]) -> String { names.map(\.text).joined(separator: ", ") }

  private func array(_ names: [AttributeName]) -> JSONValue { .array(names.map { .string($0.text) }) }
}
