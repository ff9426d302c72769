/// The manual page of a program in section 1, generated from its declaration.
///
/// The text uses the macros of man(7): `.TH`, `.SH`, `.SS`, `.TP`, `.PP`, `.EX`.
package struct ManualPage: Sendable {
  private let program: ProgramDeclaration
  private let version: String
  private let help: HelpText

  /// Creates the page of a program; the footer shows the version.
  package init(_ program: ProgramDeclaration, version: String) {
    self.program = program
    self.version = version
    help = HelpText(program, width: 100)
  }

  /// Returns the page in roff, which ends with a line feed.
  package func text() -> String {
    var page = ".TH \(program.name.uppercased()) 1 \"\" \"\(Self.escape(program.name + " " + version))\"\n"
    page += ".SH NAME\n\(Self.escape(program.name)) \\- \(Self.escape(program.summary))\n"
    page += ".SH SYNOPSIS\n.B \(Self.escape(program.name))\n.I COMMAND\n[OPTIONS] [OPERANDS]\n"
    page += ".SH COMMANDS\n"
    for command in program.visibleCommands {
      page += section([command])
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
    return page
  }

  private func section(_ path: [CommandDeclaration]) -> String {
    guard let command = path.last else { return "" }
    var page = ".SS \(Self.escape(path.map(\.name).joined(separator: " ")))\n"
    page += Self.line(command.summary)
    // Subcommands have their own sections.
    if command.subcommands.isEmpty || !command.operands.isEmpty {
      for line in help.synopsis(path).prefix(1) {
        page += ".PP\n.B " + Self.escape(line) + "\n"
      }
    }
    for paragraph in command.details {
      page += ".PP\n" + Self.line(paragraph)
    }
    for operand in command.operands {
      page += ".TP\n.I \(Self.escape(operand.value.name))\n" + Self.line(operand.help)
    }
    page += options(command.options)
    for example in command.examples {
      page += ".PP\n" + Self.line(example.explanation)
      page += ".PP\n.EX\n" + Self.line("$ " + example.line) + ".EE\n"
    }
    for below in command.subcommands where !below.isHidden {
      page += section(path + [below])
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
