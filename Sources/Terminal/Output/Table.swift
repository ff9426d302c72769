/// A table: aligned with a header on a terminal, tab-separated without one in a pipe.
package struct Table: Sendable {
  /// The largest width of a cell in a list, so that one long value does not push the other columns off the screen.
  package static let listCellWidth = 40

  private let header: [String]
  private let cellWidth: Int?
  private let escaping: Escaping
  private var rows: [[String]] = []
  private var widths: [Int]

  /// Creates a table without rows.
  ///
  /// - Parameters:
  ///   - header: the names of the columns, shown in capital letters on a terminal.
  ///   - isTerminal: true for the terminal form, false for the pipe form.
  ///   - cellWidth: the largest number of columns that a cell may take on a terminal; longer text is cut. In a pipe
  ///     nothing is cut. Nil means no limit.
  package init(_ header: [String], isTerminal: Bool, cellWidth: Int? = Table.listCellWidth) {
    self.cellWidth = cellWidth
    self.header = header.map { $0.uppercased() }
    escaping = isTerminal ? .terminal : .pipe
    widths = self.header.map { DisplayWidth.of($0) }
  }

  /// Adds a row with one text for every column; the texts are escaped here.
  package mutating func add(_ row: [String]) {
    addShown(row.map { escaping.show($0) })
  }

  /// Adds a row of bytes, some of which may not be UTF-8; they are escaped here.
  package mutating func add(_ row: [[UInt8]]) {
    addShown(row.map { escaping.show($0) })
  }

  private mutating func addShown(_ row: [String]) {
    precondition(row.count == header.count, "a row has one text for every column")
    guard escaping == .terminal else {
      rows.append(row)
      return
    }
    let row = cellWidth.map { limit in row.map { DisplayWidth.cut($0, to: limit) } } ?? row
    rows.append(row)
    for (index, text) in row.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(text)) }
  }

  /// True if there are no rows.
  package var isEmpty: Bool { rows.isEmpty }

  /// The lines, each ended by a line feed. Without rows there are no lines, not even the header.
  ///
  /// Lines are not cut: the terminal wraps a line that is too long.
  package var lines: [TerminalText] {
    guard !rows.isEmpty else { return [] }
    switch escaping {
    case .pipe: return rows.map { TerminalText(composed: $0.joined(separator: "\t") + "\n") }
    case .terminal: return ([header] + rows).map(align)
    }
  }

  private func align(_ row: [String]) -> TerminalText {
    var line = ""
    for (index, text) in row.enumerated() {
      line += text
      // Spaces only before more text, so that no line ends with spaces.
      guard row[(index + 1)...].contains(where: { !$0.isEmpty }) else { break }
      line += String(repeating: " ", count: widths[index] - DisplayWidth.of(text) + 2)
    }
    return TerminalText(composed: line + "\n")
  }
}
