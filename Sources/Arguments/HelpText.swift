/// Help texts, generated only from the declarations, so they cannot fail and always agree with the parser.
package struct HelpText: Sendable {
  private let program: ProgramDeclaration
  private let width: Int

  /// Creates the help for a program, wrapped to a width.
  ///
  /// - Parameters:
  ///   - program: the program to describe.
  ///   - width: the number of columns, limited to 40 to 100, because longer lines are hard to read.
  package init(_ program: ProgramDeclaration, width: Int) {
    self.program = program
    self.width = min(max(width, 40), 100)
  }

  /// Returns the short text that is shown if no command was named.
  package func short() -> String {
    """
    \(program.name): \(program.summary)

    Usage: \(program.name) COMMAND [OPTIONS] [OPERANDS]


    """
      + Self.wrap(
        "`\(program.name) --help` lists the commands, `\(program.name) help COMMAND` explains one.",
        width: width, indent: 0)
  }

  /// Returns the short text with the first steps of a new user.
  ///
  /// - Parameter steps: the commands to begin with.
  package func start(_ steps: [Example]) -> String {
    short() + "\nThere is no store yet. To begin:\n" + rows(steps.map { ($0.line, $0.explanation) })
  }

  /// Returns the names of the commands by topic, in a text that fits on a small screen.
  package func screen() -> String {
    var text = program.name + ": " + program.summary + "\n\n"
    text += "Usage: \(program.name) COMMAND [OPTIONS] [OPERANDS]\n\n"
    text += rows(
      program.commandsByTopic.map { ($0.title, $0.commands.map(\.name).joined(separator: ", ")) })
    text += "\nOptions of every command:\n"
    let options = program.globals.map { $0.display + $0.valueNotation }.joined(separator: ", ")
    text += Self.wrap(options, width: width, indent: 2) + "\n"
    return text
      + Self.wrap(
        "`\(program.name) help` explains all commands, `\(program.name) help COMMAND` one of them.",
        width: width, indent: 0)
  }

  /// Returns the list of commands, the global options, the environment variables and the exit codes.
  package func overview() -> String {
    var text = program.name + ": " + program.summary + "\n\n"
    text += "Usage: \(program.name) COMMAND [OPTIONS] [OPERANDS]\n"
    // One list, so that the summaries of all topics are in one column.
    let column = column(program.visibleCommands.map(commandTerm))
    for topic in program.commandsByTopic {
      text += "\n\(topic.title):\n"
      text += rows(topic.commands.map { (commandTerm($0), $0.summary) }, column: column)
    }
    text += "\nOptions of every command:\n" + rows(program.globals.map { (term($0), $0.help) })
    if !program.variables.isEmpty {
      text += "\nEnvironment:\n" + rows(program.variables.map { ($0.name, $0.help) })
    }
    text += "\nExit codes:\n" + rows(program.exitCodes.map { (String($0.code), $0.meaning) })
    text += "\n" + Self.wrap("`\(program.name) help COMMAND` explains one command.", width: width, indent: 0)
    return text
  }

  /// Returns the synopsis, explanation, operands, options, examples and exit codes of one command.
  ///
  /// - Parameter path: the command and its parent commands, outermost first.
  package func command(_ path: [CommandDeclaration]) -> String {
    guard let command = path.last else { return overview() }
    let names = ([program.name] + path.map(\.name)).joined(separator: " ")
    var text = names + ": " + command.summary + "\n\n"
    text += "Usage: " + synopsis(path).joined(separator: "\n       ") + "\n"
    if !command.aliases.isEmpty {
      text += "Also:  " + command.aliases.map { program.name + " " + $0 }.joined(separator: ", ") + "\n"
    }
    for paragraph in command.details {
      text += "\n" + Self.wrap(paragraph, width: width, indent: 0)
    }
    text += section("Commands", command.subcommands.filter { !$0.isHidden }.map { ($0.name, $0.summary) })
    text += section("Operands", command.operands.map { ($0.value.name, $0.help) })
    for (heading, options) in optionSections(path) {
      text += section(heading, options.map { (term($0), $0.help) })
    }
    text += section("Options of every command", program.globals.map { (term($0), $0.help) })
    if !command.examples.isEmpty {
      text += "\nExamples:\n"
      for example in command.examples {
        text += "  $ " + example.line + "\n"
        text += Self.wrap(example.explanation, width: width, indent: 6)
      }
    }
    return text + section("Exit codes", exitRows(command))
  }

  /// Returns one line for every way to invoke a command.
  package func synopsis(_ path: [CommandDeclaration]) -> [String] {
    guard let command = path.last else { return [] }
    let names = ([program.name] + path.map(\.name)).joined(separator: " ")
    var lines = command.subcommands.filter { !$0.isHidden }.flatMap { synopsis(path + [$0]) }
    if command.subcommands.isEmpty || !command.operands.isEmpty || command.implied != nil {
      let options = command.options.isEmpty ? [] : ["[OPTIONS]"]
      let words = [names] + options + command.operands.map(\.notation)
      lines.insert(words.joined(separator: " "), at: 0)
    }
    return lines
  }

  /// Returns the options of a command by heading, in the order in which the headings first appear.
  func optionSections(_ path: [CommandDeclaration]) -> [(heading: String, options: [OptionDeclaration])] {
    var sections: [(heading: String, options: [OptionDeclaration])] = []
    for option in path.flatMap(\.options) {
      let heading = option.heading ?? "Options"
      if let index = sections.firstIndex(where: { $0.heading == heading }) {
        sections[index].options.append(option)
      } else {
        sections.append((heading, [option]))
      }
    }
    return sections
  }

  /// Returns the exit codes of a command with their meanings.
  func exitRows(_ command: CommandDeclaration) -> [(String, String)] {
    let codes = Set(program.usualExitCodes + command.exitCodes)
    return program.exitCodes.filter { codes.contains($0.code) }.map { (String($0.code), $0.meaning) }
  }

  private func section(_ heading: String, _ content: [(String, String)]) -> String {
    content.isEmpty ? "" : "\n" + heading + ":\n" + rows(content)
  }

  private func commandTerm(_ command: CommandDeclaration) -> String {
    ([command.name] + command.aliases).joined(separator: ", ")
  }

  private func term(_ option: OptionDeclaration) -> String {
    let letter = option.short.map { "-" + String($0) }
    let long = option.long.map { "--" + $0 }
    let names =
      switch (letter, long) {
      case (let letter?, let long?): letter + ", " + long
      case (let letter?, nil): letter
      case (nil, let long?): "    " + long
      case (nil, nil): ""
      }
    return names + option.valueNotation
  }

  /// Returns two columns: the terms and their meanings. A meaning is wrapped beside its term, or below it if the term
  /// is too long.
  ///
  /// - Parameters:
  ///   - content: the terms with their meanings.
  ///   - column: the column of the meanings; nil for the one that fits the terms.
  private func rows(_ content: [(term: String, text: String)], column: Int? = nil) -> String {
    let column = column ?? self.column(content.map(\.term))
    var text = ""
    for (term, meaning) in content {
      let wrapped = Self.wrap(meaning, width: width, indent: column)
      if term.count + 4 > column {
        text += "  " + term + "\n" + wrapped
      } else {
        let gap = String(repeating: " ", count: column - term.count - 2)
        text += "  " + term + gap + String(wrapped.dropFirst(column))
      }
    }
    return text
  }

  /// Returns the column beside terms.
  private func column(_ terms: [String]) -> Int { min(28, (terms.map(\.count).max() ?? 0) + 4) }

  /// Wraps a paragraph to a width. Each line is indented and ends with a line feed.
  static func wrap(_ text: String, width: Int, indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(margin + line + "\n")
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(margin + line + "\n")
    return lines.joined()
  }
}
