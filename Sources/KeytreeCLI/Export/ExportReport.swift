internal import Encoding
package import KeyringModel

/// What an export does not carry of an item.
package enum ExportLoss: Hashable, Sendable {
  /// The item is not in the file at all, for the reason given.
  case item(String)
  /// These attributes are not, or say something else.
  case attributes([String])
  /// The secret is there, but not as it was: what is read back from the file differs.
  case secretChanged
}

/// What became of every item of an export.
package struct ExportReport: Sendable {
  /// One item.
  package struct Entry: Hashable, Sendable {
    /// Which item.
    package let path: ItemPath
    /// What is not carried; empty when all is.
    package var losses: [ExportLoss] = []

    /// One line for a person; what writes it to a terminal escapes it.
    var line: String {
      guard !losses.isEmpty else { return "\(path.text): exported" }
      let words = losses.map { loss in
        switch loss {
        case .item(let reason): "NOT exported: \(reason)"
        case .attributes(let names): "without \(names.joined(separator: ", "))"
        case .secretChanged: "its secret does not come back as it is"
        }
      }
      return "\(path.text): \(words.joined(separator: "; "))"
    }

    /// The same for programs.
    var json: JSONValue {
      var members = [JSONMember("path", .string(path.text)), JSONMember("outcome", .string(outcome))]
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

    /// Whether nothing of it is in the file.
    var isLost: Bool {
      losses.contains { if case .item = $0 { true } else { false } }
    }
  }

  /// All items.
  package var entries: [Entry]

  /// How many items do not arrive whole.
  package var lossCount: Int { entries.count { !$0.losses.isEmpty } }

  /// The counts in one line.
  var summary: String {
    let lost = entries.count(where: \.isLost)
    let parts = [
      (entries.count - lost, "exported"), (lossCount - lost, "of them not whole"), (lost, "NOT exported"),
    ]
    return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
      .map { "\($0.element.0) \($0.element.1)" }.joined(separator: ", ")
  }

  /// The counts for programs.
  func summaryJSON(isApplied: Bool) -> JSONValue {
    let lost = entries.count(where: \.isLost)
    return .object([
      JSONMember("applied", .bool(isApplied)), JSONMember("exported", .integer(Int64(entries.count - lost))),
      JSONMember("incomplete", .integer(Int64(lossCount - lost))), JSONMember("lost", .integer(Int64(lost))),
    ])
  }
}
