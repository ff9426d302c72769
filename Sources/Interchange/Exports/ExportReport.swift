package import Encoding
package import KeyringModel

/// The part of an item that an export does not contain.
package enum ExportLoss: Hashable, Sendable {
  /// The file does not contain the item, for the given reason.
  case item(String)
  /// These attributes are missing or differ.
  case attributes([String])
  /// The secret that an import reads from the file differs.
  case secretChanged
}

/// The outcomes of all items of an export.
package struct ExportReport: Sendable {
  /// One item.
  package struct Entry: Hashable, Sendable {
    /// The primary key of the item.
    package let item: PrimaryKey
    /// The losses; empty if the item is complete.
    package var losses: [ExportLoss] = []

    /// The path of the item.
    package var path: ItemPath { ItemPath(item) }

    /// Returns the losses of an item for people.
    package static func words(for losses: [ExportLoss]) -> String {
      let words = losses.map { loss in
        switch loss {
        case .item(let reason): "NOT exported: \(reason)"
        case .attributes(let names): "without \(names.joined(separator: ", "))"
        case .secretChanged: "an import changes its secret"
        }
      }
      return words.joined(separator: "; ")
    }

    /// The entry for programs.
    package var json: JSONValue {
      var members = [
        JSONMember("path", .string(path.text)), JSONMember("outcome", .string(outcome)),
      ]
      for loss in losses {
        switch loss {
        case .item(let reason): members.append(JSONMember("reason", .string(reason)))
        case .attributes(let names):
          members.append(JSONMember("attributes", .array(names.map { .string($0) })))
        case .secretChanged: members.append(JSONMember("secretChanged", .bool(true)))
        }
      }
      return .object(members)
    }

    private var outcome: String { losses.isEmpty ? "exported" : isLost ? "lost" : "incomplete" }

    /// True if the file contains no part of the item.
    var isLost: Bool {
      losses.contains { if case .item = $0 { true } else { false } }
    }
  }

  /// The entries of all items.
  package var entries: [Entry]

  /// Creates a report.
  package init(entries: [Entry]) { self.entries = entries }

  /// The number of items that are not complete.
  package var lossCount: Int { entries.count { !$0.losses.isEmpty } }

  /// The counts in one line.
  package var summary: String {
    let lost = entries.count(where: \.isLost)
    let parts = [
      (entries.count - lost, "exported"), (lossCount - lost, "of them incomplete"), (lost, "NOT exported"),
    ]
    return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
      .map { "\($0.element.0) \($0.element.1)" }.joined(separator: ", ")
  }

  /// Returns the counts, for programs.
  package func summaryJSON(isApplied: Bool) -> JSONValue {
    let lost = entries.count(where: \.isLost)
    return .object([
      JSONMember("applied", .bool(isApplied)), JSONMember("exported", .integer(Int64(entries.count - lost))),
      JSONMember("incomplete", .integer(Int64(lossCount - lost))), JSONMember("lost", .integer(Int64(lost))),
    ])
  }
}
