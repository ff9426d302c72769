/// A list of names and facts about them, in two columns.
///
/// It is for people and has the same form in a pipe; programs use `--json`. Names and facts are escaped when they are
/// added.
package struct FactList {
  private var rows: [(name: String, text: String)] = []

  /// Creates an empty list.
  package init() {}

  /// Adds a line. A name that repeats the one above it is shown once.
  package mutating func add(_ name: String, _ text: String) {
    rows.append((Escaping.terminal.show(name), Escaping.terminal.show(text)))
  }

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
