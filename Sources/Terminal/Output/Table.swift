/// A table: aligned with a header on a terminal, tab-separated without one in a pipe.
package struct Table: Sendable {
  /// The largest width of a cell in a list, so that one long value does not push the other columns off the screen.
  package static let listCellWidth = 40

  private let header: [String]
  private let cellWidth: Int?
  private let width: Int?
  private let hasColor: Bool
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
  ///   - width: the columns of the terminal. Cells are cut so that each line fits, and if that is not enough, the last
  ///     columns are left out. Nil means no limit.
  ///   - hasColor: true for a bold header on a terminal.
  package init(
    _ header: [String], isTerminal: Bool, cellWidth: Int? = Table.listCellWidth, width: Int? = nil,
    hasColor: Bool = false
  ) {
    self.cellWidth = cellWidth
    self.width = width
    self.hasColor = hasColor
    self.header = header.map { $0.uppercased() }
    escaping = isTerminal ? .terminal : .pipe
    widths = self.header.map { DisplayWidth.of($0) }
  }

  /// Returns one row in the form of a pipe, for a list that is so long that several threads compose it.
  ///
  /// - Parameter cells: One text for every column; bytes that are not UTF-8 are escaped, too.
  package static func pipeRow(_ cells: [[UInt8]]) -> [UInt8] {
    var row: [UInt8] = []
    for (number, cell) in cells.enumerated() {
      if number > 0 { row.append(UInt8(ascii: "\t")) }
      if Escaping.pipe.isPlain(cell) { row += cell } else { row += Escaping.pipe.show(cell).utf8 }
    }
    row.append(UInt8(ascii: "\n"))
    return row
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
  /// Without a width, lines are not cut: the terminal wraps a line that is too long.
  package var lines: [TerminalText] {
    guard !rows.isEmpty else { return [] }
    switch escaping {
    case .pipe: return rows.map { TerminalText(composed: $0.joined(separator: "\t") + "\n") }
    case .terminal:
      let widths = width.map(fittingWidths) ?? widths
      let header = align(header, widths)
      return [hasColor ? "\u{1B}[1m" + header + "\u{1B}[0m\n" : header + "\n"].map {
        TerminalText(composed: $0)
      }
        + rows.map { TerminalText(composed: align($0, widths) + "\n") }
    }
  }

  /// The number of spaces between two columns.
  private static let gap = 2
  /// The smallest width to which a column is cut. It has space for a date.
  private static let smallestWidth = 10

  /// Returns the widths of the columns that fit into a terminal. The widest columns are cut first.
  private func fittingWidths(_ width: Int) -> [Int] {
    var widths = widths
    while widths.count > 1, minimum(widths) > width { widths.removeLast() }
    var excess = widths.reduce(-Self.gap) { $0 + $1 + Self.gap } - width
    while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 1 {
      // Down to the next narrower column, so that columns of the same width are cut alike.
      let next = widths.filter { $0 < widths[widest] }.max() ?? Self.smallestWidth
      let step = max(1, min(excess, widths[widest] - max(next, Self.smallestWidth)))
      widths[widest] -= step
      excess -= step
    }
    return widths
  }

  private func minimum(_ widths: [Int]) -> Int {
    widths.reduce(-Self.gap) { $0 + min($1, Self.smallestWidth) + Self.gap }
  }

  private func align(_ row: [String], _ widths: [Int]) -> String {
    var line = ""
    let row = zip(row, widths).map { DisplayWidth.cut($0, to: $1) }
    for (index, text) in row.enumerated() {
      line += text
      // Spaces only before more text, so that no line ends with spaces.
      guard row[(index + 1)...].contains(where: { !$0.isEmpty }) else { break }
      line += String(repeating: " ", count: widths[index] - DisplayWidth.of(text) + Self.gap)
    }
    return line
  }
}
