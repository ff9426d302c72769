import Foundation

/// A table of `fixtures/secitem`: names and their values.
struct FactTable {
  /// One line of the table.
  struct Row: Hashable {
    var name: String
    /// The exact value, including spaces at its end.
    var value: String
  }

  var rows: [Row]

  init(_ file: String) throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: root.appendingPathComponent("fixtures/secitem/\(file)"), encoding: .utf8)
    rows = text.split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      return Row(name: String(fields[0]), value: fields.dropFirst().joined(separator: "\t"))
    }
  }
}
