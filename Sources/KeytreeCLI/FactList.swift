/// Lines of a name and what is to be said about it, in two columns.
///
/// For people: in a pipe it is the same, and programs ask for `--json`. The texts are shown as they are; what
/// comes from outside was escaped when they were made.
package struct FactList {
  private var rows: [(name: String, text: String)] = []

  /// An empty list.
  package init() {}

  /// Adds a line; a name that repeats the one above it is shown once.
  package mutating func add(_ name: String, _ text: String) { rows.append((name, text)) }

  /// The lines, aligned.
  package var lines: [String] {
    let width = rows.map { DisplayWidth.of($0.name) }.max() ?? 0
    var above: String?
    return rows.map { row in
      let name = row.name == above ? "" : row.name
      above = row.name
      return name + String(repeating: " ", count: width - DisplayWidth.of(name) + 2) + row.text
    }
  }
}
