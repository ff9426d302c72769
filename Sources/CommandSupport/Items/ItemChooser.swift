internal import Encoding
internal import Keyring
package import KeyringModel
internal import Subprocess
internal import Terminal

/// Lets the user choose one of several items: with the program in the setting `picker`, or with a numbered list on the
/// terminal.
package struct ItemChooser {
  private let call: CommandCall

  /// Creates a chooser on the console of a call.
  package init(_ call: CommandCall) { self.call = call }

  /// The largest number of items in a numbered list.
  private static let listLimit = 20
  /// The largest output of a picker in bytes: one line.
  private static let outputLimit = 1 << 16

  /// True if the user can be asked: with a picker or on a terminal, and not with `--no-input`.
  package var canAsk: Bool { !call.globals.noInput && call.console.canAsk }

  /// True if the user can choose: on a terminal or with a picker, which needs none.
  package var isPossible: Bool {
    get throws {
      try !call.globals.noInput && (call.console.canAsk || call.configuration().text(.picker) != nil)
    }
  }

  /// Returns the item that the user chooses.
  ///
  /// - Parameter items: at least one item, in the order of the list.
  /// - Throws: `cancelled` if the user chooses none; `other` if the picker cannot be run; `promptImpossible` if there
  ///   is neither a picker nor a terminal.
  package func choose(among items: [ItemRecord]) throws -> ItemRecord {
    if call.globals.noInput { throw TerminalError.promptImpossible(question: "Item", .inputRefused) }
    if let picker = try call.configuration().text(.picker) { return try run(picker, items) }
    return try ask(items)
  }

  // MARK: The list

  private func ask(_ all: [ItemRecord]) throws -> ItemRecord {
    var items = Array(zip(all, ItemLines.of(all)))
    while true {
      for (number, item) in items.prefix(Self.listLimit).enumerated() {
        let digits = String(number + 1)
        call.console.complain(
          String(repeating: " ", count: max(0, 3 - digits.utf8.count)) + digits + "  " + item.1)
      }
      if items.count > Self.listLimit {
        call.console.complain("     \(items.count - Self.listLimit) more; type words to narrow the list")
      }
      guard let answer = try call.console.ask("Number, or words to narrow the list"), !answer.isEmpty else {
        throw TerminalError.cancelled(action: "no item was chosen")
      }
      if let number = Int(answer), (1...min(items.count, Self.listLimit)).contains(number) {
        return items[number - 1].0
      }
      // Another number is a word: an account can be one.
      let words = answer.lowercased().split(whereSeparator: \.isWhitespace)
      let narrowed = items.filter { item in
        let line = item.1.lowercased()
        return words.allSatisfy { line.contains(bytesOf: $0) }
      }
      switch narrowed.count {
      case 0: call.console.complain("The list has no such number, and no item with these words.")
      case 1: return narrowed[0].0
      default: items = narrowed
      }
    }
  }

  // MARK: The picker

  /// Runs a picker: it reads one line for each item, and prints the chosen line.
  private func run(_ picker: String, _ items: [ItemRecord]) throws -> ItemRecord {
    var byLine: [String: ItemRecord] = [:]
    var lines: [String] = []
    for (item, line) in zip(items, ItemLines.of(items)) {
      // A picker shows the lines on a terminal or in a window.
      let line = Escaping.terminal.show(line)
      byLine[line] = item
      lines.append(line)
    }
    guard let command = ProgramCommand(picker, searchPath: call.environment.searchPath) else {
      throw failure(picker, "it is not installed")
    }
    var run = ProgramRun(
      command.path, command.arguments,
      environment: ProcessEnvironment(entries: call.environment.entries, locale: nil))
    run.input = .bytes(Array((lines.joined(separator: "\n") + "\n").utf8))
    run.output = .collected(limit: Self.outputLimit)
    run.errors = .descriptor(2)
    // The picker may draw on the terminal and read its keys.
    run.group = .shared
    run.signals = .termination
    let outcome: ProcessOutcome
    do {
      outcome = try run.run()
    } catch {
      throw failure(picker, "it cannot be run: \(error)")
    }
    let output = String(decoding: outcome.output, as: UTF8.self)
    let line = output.split(separator: "\n").first.map(String.init) ?? ""
    if let item = byLine[line] { return item }
    guard line.isEmpty else {
      // Most pickers print the typed text if it matches no line.
      throw CommandError.other(
        .notFound, message: "no item was chosen: \(ErrorReport.quote(line)) is no line of the list",
        hint: "choose a line of the list; `keytree find WORD...` shows the items")
    }
    switch outcome.ending {
    case .signaled(let signal): throw failure(picker, "it was ended by signal \(signal)")
    case .exited(let status) where [126, 127].contains(status):
      throw failure(picker, "it exited with status \(status)")
    case .exited:
      // All pickers exit with a failure if the user chooses nothing, and print nothing. Some do the same if they have no
      // terminal or no window, so the message names the picker.
      throw TerminalError.cancelled(action: "no item was chosen with \(ErrorReport.quote(picker))")
    }
  }

  private func failure(_ picker: String, _ reason: String) -> CommandError {
    .other(
      .failure, message: "cannot use the picker \(ErrorReport.quote(picker)): \(reason)",
      hint:
        "`keytree config picker PROGRAM` sets it, `keytree config --unset picker` selects the list on the terminal"
    )
  }
}
