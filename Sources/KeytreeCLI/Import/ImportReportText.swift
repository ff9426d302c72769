package import Encoding
internal import KeyringModel

extension ImportReport.Entry {
  /// One line for a person, for example `row 17, note: added as generic-password/github.com/alice.note`.
  ///
  /// It may hold any character of the source: what writes it to a terminal escapes it.
  package var line: String { line(isPlan: false) }

  /// The same line for what was done, or for what would be done.
  fileprivate func line(isPlan: Bool) -> String {
    var where_ = source.text
    if part != .secret { where_ += ", \(part.text)" }
    let notes = remarks.map { "; \($0.text)" }.joined()
    return "\(where_): \(outcome.text(path: path, isPlan: isPlan))\(notes)"
  }

  /// The same for programs; no secret is in it.
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
  /// What a person wants to read: every entry that needs attention, then the counts.
  ///
  /// - Parameters:
  ///   - all: Whether to list the entries that were simply added or are there already, too.
  ///   - isPlan: Whether nothing was done yet.
  /// - Returns: The lines, without line ends.
  package func lines(all: Bool, isPlan: Bool = false) -> [String] {
    let lines = entries.filter { all || $0.needsAttention }.map { $0.line(isPlan: isPlan) }
    return lines + [isPlan ? "would be: \(summary)" : summary]
  }

  /// What would not be in the store, one line each.
  package var losses: [String] { entries.filter { $0.outcome.isLoss }.map(\.line) }

  /// The counts in one line; what did not occur is left out, but for what was added.
  package var summary: String {
    let counts = counts
    let parts = [
      (counts.added, "added"), (counts.beside, "of them beside another secret of the same name"),
      (counts.joined, "joined with an equal one"), (counts.completed, "completed"),
      (counts.duplicates, "duplicates"), (counts.alreadyThere, "already there"),
      (counts.skipped, "skipped"), (counts.lost, "NOT imported"),
    ]
    return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
      .map { "\($0.element.0) \($0.element.1)" }.joined(separator: ", ")
  }

  /// The counts for programs.
  ///
  /// - Parameter isApplied: whether it was done; else the counts are those of a plan.
  package func summaryJSON(isApplied: Bool) -> JSONValue {
    let counts = counts
    return .object([
      JSONMember("added", .integer(Int64(counts.added))),
      JSONMember("applied", .bool(isApplied)),
      JSONMember("alreadyThere", .integer(Int64(counts.alreadyThere))),
      JSONMember("beside", .integer(Int64(counts.beside))),
      JSONMember("completed", .integer(Int64(counts.completed))),
      JSONMember("duplicates", .integer(Int64(counts.duplicates))),
      JSONMember("joined", .integer(Int64(counts.joined))),
      JSONMember("lost", .integer(Int64(counts.lost))),
      JSONMember("skipped", .integer(Int64(counts.skipped))),
    ])
  }
}

extension ImportReport.Entry {
  fileprivate var needsAttention: Bool {
    switch outcome {
    case .added, .alreadyThere: !remarks.isEmpty
    case .skipped(.housekeeping): false
    default: true
    }
  }
}

extension ImportOutcome {
  fileprivate func text(path: ItemPath?, isPlan: Bool) -> String {
    let (added, has) = isPlan ? ("will be added as", "will have") : ("added as", "now has")
    let item = path?.text ?? "no item"
    switch self {
    case .added: return "\(added) \(item)"
    case .addedBeside: return "\(added) \(item), because another item has its name"
    case .joined(let earlier, let names):
      return "same secret as \(earlier.text) (\(item)), which \(has) \(list(names)) as well"
    case .completed(let names): return "already there as \(item), which \(has) \(list(names)) as well"
    case .duplicate(let earlier): return "same as \(earlier.text) (\(item))"
    case .alreadyThere: return "already there as \(item)"
    case .skipped(let reason): return "skipped: \(reason.text)"
    case .lost(let reason): return "NOT imported: \(reason.text)"
    }
  }

  fileprivate var details: [JSONMember] {
    switch self {
    case .added, .addedBeside, .alreadyThere: []
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
