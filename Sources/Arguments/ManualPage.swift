/// The manual pages of a program in section 1, generated from its declaration: one of the program, which begins with
/// the tasks of its users, and one of each command.
///
/// The text uses the macros of man(7): `.TH`, `.SH`, `.SS`, `.TP`, `.PP`, `.EX`, `.BR`.
package struct ManualPage: Sendable {
  private let program: ProgramDeclaration
  private let version: String
  private let help: HelpText

  /// Creates the pages of a program; the footers show the version.
  package init(_ program: ProgramDeclaration, version: String) {
    self.program = program
    self.version = version
    help = HelpText(program, width: 100)
  }

  /// Returns the page of the program in roff, which ends with a line feed.
  package func text() -> String {
    var page = head(program.name, program.summary)
    page += ".SH SYNOPSIS\n.B \(Self.escape(program.name))\n.I COMMAND\n[OPTIONS] [OPERANDS]\n"
    page += ".SH TASKS\n"
    for topic in program.commandsByTopic {
      page += ".SS \(Self.escape(topic.title))\n"
      for command in topic.commands { page += task(command) }
    }
    page += ".SH OPTIONS OF EVERY COMMAND\n" + options(program.globals)
    if !program.variables.isEmpty {
      page += ".SH ENVIRONMENT\n"
      for variable in program.variables {
        page += ".TP\n.B \(Self.escape(variable.name))\n" + Self.line(variable.help)
      }
    }
    page += ".SH EXIT STATUS\n"
    for exit in program.exitCodes {
      page += ".TP\n.B \(exit.code)\n" + Self.line(exit.meaning)
    }
    return page + seeAlso(program.visibleCommands.map(name))
  }

  /// Returns the page of a command in roff, which ends with a line feed.
  package func text(of command: CommandDeclaration) -> String {
    var page = head(name(of: command), command.summary)
    page += ".SH SYNOPSIS\n"
    for line in help.synopsis([command]) { page += ".B \(Self.escape(line))\n.br\n" }
    page += ".SH DESCRIPTION\n" + body([command])
    for below in command.subcommands where !below.isHidden {
      page += ".SS \(Self.escape(below.name))\n" + Self.line(below.summary) + body([command, below])
    }
    page += ".SH EXIT STATUS\n"
    for (code, meaning) in help.exitRows(command) { page += ".TP\n.B \(code)\n" + Self.line(meaning) }
    return page + seeAlso([program.name])
  }

  private func name(of command: CommandDeclaration) -> String { program.name + "-" + command.name }

  private func head(_ name: String, _ summary: String) -> String {
    ".TH \(Self.escape(name.uppercased())) 1 \"\" \"\(Self.escape(program.name + " " + version))\"\n"
      + ".SH NAME\n\(Self.escape(name)) \\- \(Self.escape(summary))\n"
  }

  private func seeAlso(_ names: [String]) -> String {
    ".SH SEE ALSO\n" + names.map { ".BR \(Self.escape($0)) (1)" }.joined(separator: ",\n") + "\n"
  }

  /// Returns what a user wants to do with a command, and the line that they type: its first example.
  private func task(_ command: CommandDeclaration) -> String {
    let line = command.examples.first?.line ?? "\(program.name) \(command.name)"
    return ".TP\n.B \(Self.escape(line))\n" + Self.line(command.summary) + ".RB ( "
      + Self.escape(name(of: command)) + " (1))\n"
  }

  /// Returns the details, operands, options and examples of a command.
  private func body(_ path: [CommandDeclaration]) -> String {
    guard let command = path.last else { return "" }
    var page = command.details.map { ".PP\n" + Self.line($0) }.joined()
    if command.details.isEmpty, path.count == 1 { page += Self.line(command.summary) }
    for operand in command.operands {
      page += ".TP\n.I \(Self.escape(operand.value.name))\n" + Self.line(operand.help)
    }
    page += options(command.options)
    for example in command.examples {
      page += ".PP\n" + Self.line(example.explanation)
      page += ".PP\n.EX\n" + Self.line("$ " + example.line) + ".EE\n"
    }
    return page
  }

  private func options(_ options: [OptionDeclaration]) -> String {
    var page = ""
    for option in options {
      let names = [option.short.map { "-" + String($0) }, option.long.map { "--" + $0 }]
      let term = names.compactMap { $0 }.joined(separator: ", ") + option.valueNotation
      page += ".TP\n.B \(Self.escape(term))\n" + Self.line(option.help)
    }
    return page
  }

  /// Returns an escaped line of text that roff does not interpret as a request, even if it begins with a dot or a
  /// quote.
  private static func line(_ text: String) -> String {
    let escaped = escape(text)
    let isRequest = escaped.hasPrefix(".") || escaped.hasPrefix("'")
    return (isRequest ? "\\&" : "") + escaped + "\n"
  }

  /// Escapes the characters that are special in roff: backslashes, quotes, and hyphens, which would otherwise become
  /// dashes that cannot be copied.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "\"": escaped += "\\(dq"
      case "`": escaped += "\\(ga"
      case "~": escaped += "\\(ti"
      case "^": escaped += "\\(ha"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
