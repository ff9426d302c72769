import KeytreeCLI
import Terminal
import Testing

@Suite("Tables", .serialized)
struct TableTests {
  @Test(
    "the width of text is counted as on a terminal",
    arguments: [
      ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4), ("ｱ", 1), ("Ａ", 2), ("😀", 2),
      ("👍🏽", 2),
      ("🇩🇪", 2), ("👩‍👩‍👧", 2), ("☂", 1), ("☂\u{FE0F}", 2), ("\u{1100}\u{1161}", 2), ("שלום", 4), ("①", 1),
    ])
  func width(text: String, columns: Int) {
    #expect(DisplayWidth.of(text) == columns)
  }

  private func table(isTerminal: Bool) -> String {
    var table = Table(["class", "name", "label"], isTerminal: isTerminal)
    table.add(["generic", "日本", ""])
    table.add(["internet", "a\tb", "x\u{202E}"])
    table.add([Array("key".utf8), [0xFF], Array("l".utf8)])
    return table.lines.map(\.text).joined()
  }

  @Test("a table on a terminal is aligned under a header")
  func aligned() {
    #expect(
      table(isTerminal: true) == #"""
        CLASS     NAME  LABEL
        generic   日本
        internet  a\tb  x\u{202e}
        key       \xff  l

        """#)
  }

  @Test("a table in a pipe is separated by tabs and has no header")
  func piped() {
    #expect(
      table(isTerminal: false)
        == "generic\t日本\t\ninternet\ta\\tb\tx\\u{202e}\nkey\t\\xff\tl\n")
  }

  @Test(
    "a cell that is too wide for a list is truncated",
    arguments: [
      (String(repeating: "a", count: 40), String(repeating: "a", count: 40)),
      (String(repeating: "a", count: 41), String(repeating: "a", count: 39) + "…"),
      (String(repeating: "鍵", count: 20), String(repeating: "鍵", count: 20)),
      (String(repeating: "鍵", count: 21), String(repeating: "鍵", count: 19) + "…"),
    ])
  func cut(text: String, shown: String) {
    func lines(isTerminal: Bool, cellWidth: Int?) -> String? {
      var table = Table(["a"], isTerminal: isTerminal, cellWidth: cellWidth)
      table.add([text])
      return table.lines.last?.text
    }
    #expect(lines(isTerminal: true, cellWidth: Table.listCellWidth) == shown + "\n")
    #expect(lines(isTerminal: true, cellWidth: nil) == text + "\n")
    #expect(lines(isTerminal: false, cellWidth: Table.listCellWidth) == text + "\n")
  }

  @Test("a table without rows has no lines", arguments: [true, false])
  func empty(isTerminal: Bool) {
    #expect(Table(["a"], isTerminal: isTerminal).lines.isEmpty)
  }
}

@Suite("The progress bar", .serialized)
struct ProgressBarTests {
  /// A clock that the test sets.
  private final class Clock { var time = Duration.zero }

  private func draw(
    isTerminal: Bool, quiet: Bool = false, columns: Int = 60, _ work: (ProgressBar, (Int) -> Void) -> Void
  )
    -> String
  {
    let memory = MemoryConsole(isTerminal: isTerminal, columns: columns)
    memory.console.isQuiet = quiet
    let clock = Clock()
    let bar = ProgressBar("import", total: 1000, console: memory.console) { clock.time }
    work(bar) { clock.time = .milliseconds($0) }
    return memory.talk.text
  }

  @Test("the progress bar shows the progress and the remaining time, and is erased")
  func draws() {
    let text = draw(isTerminal: true) { bar, wait in
      wait(10_000)
      bar.advance(to: 500)
      bar.finish()
    }
    let line = "import  [############.............]  500 of 1000  0:10 left"
    #expect(text == "\r" + line + "\r" + String(repeating: " ", count: line.count) + "\r")
    #expect(line.count < 60)
  }

  @Test("the progress bar is not drawn for short work, too often, in a pipe, or when quiet")
  func throttled() {
    #expect(
      draw(isTerminal: true) { bar, wait in
        wait(200); bar.advance(to: 900); bar.finish()
      } == "")
    #expect(
      draw(isTerminal: false) { bar, wait in
        wait(9000); bar.advance(to: 9); bar.finish()
      } == "")
    #expect(
      draw(isTerminal: true, quiet: true) { bar, wait in
        wait(9000); bar.advance(to: 9)
      } == "")
    let text = draw(isTerminal: true) { bar, wait in
      for time in 0..<1000 {
        wait(time)
        bar.advance(to: time)
      }
    }
    #expect(text.split(separator: "\r").count == 7)
  }

  @Test("the progress bar fits any width", arguments: [1, 10, 20, 40, 80, 200])
  func narrow(columns: Int) {
    let text = draw(isTerminal: true, columns: columns) { bar, wait in
      wait(4_000_000)
      bar.advance(to: 1)
    }
    #expect(text.split(separator: "\r").allSatisfy { $0.count < columns })
    #expect(!text.contains("\n") && !text.contains("\u{1B}"))
  }
}
