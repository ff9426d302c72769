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

  /// Returns the lines, aligned.
  ///
  /// - Parameters:
  ///   - limit: the columns to which facts are wrapped between words; nil for one line each.
  ///   - indent: the indentation of all lines.
  package func lines(width limit: Int? = nil, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    let width = rows.map { DisplayWidth.of($0.name) }.max() ?? 0
    var above: String?
    return rows.flatMap { row in
      let name = row.name == above ? "" : row.name
      above = row.name
      let line = margin + name + String(repeating: " ", count: width - DisplayWidth.of(name) + 2) + row.text
      return limit.map { DisplayWidth.wrap(line, to: $0, indent: indent + width + 2) } ?? [line]
    }
  }
}
