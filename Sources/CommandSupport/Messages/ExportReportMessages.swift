package import Interchange
internal import KeyringModel

extension ExportReport.Entry {
  /// The entry as one line for people. The caller escapes it for a terminal.
  package var line: String { "\(item.name): \(losses.isEmpty ? "exported" : Self.words(for: losses))" }
}

extension ExportReport {
  // The number of items with the same loss that are listed one by one.
  private static let groupLimit = 3

  /// Returns the losses for people. Losses that more than three items of one kind have in common are one line.
  ///
  /// The caller escapes the lines for a terminal.
  ///
  /// - Parameter all: true if each item has its own line.
  package func lossLines(all: Bool) -> [String] {
    struct Group: Hashable {
      let kind: ImportKind
      let losses: [ExportLoss]
    }
    var order: [Group] = []
    var groups: [Group: [Entry]] = [:]
    for entry in entries where !entry.losses.isEmpty {
      let part = entry.item.field.map { ImportPart(field: $0, label: nil) } ?? .secret
      let group = Group(kind: ImportKind(part), losses: entry.losses)
      if groups[group] == nil { order.append(group) }
      groups[group, default: []].append(entry)
    }
    return order.flatMap { group -> [String] in
      let members = groups[group] ?? []
      if all || members.count <= Self.groupLimit { return members.map(\.line) }
      return ["\(members.count) \(group.kind.rawValue): \(Entry.words(for: group.losses))"]
    }
  }

  /// A Boolean value that indicates whether `lossLines` without all items leaves out their names.
  package var hasGroups: Bool { lossLines(all: false).count < lossCount }
}
