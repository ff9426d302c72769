/// The reference of a program's commands in Markdown, as an article of a DocC catalogue, generated from its declaration.
package struct CommandReference: Sendable {
  private let program: ProgramDeclaration
  private let help: HelpText

  /// Creates the reference of a program.
  package init(_ program: ProgramDeclaration) {
    self.program = program
    help = HelpText(program, width: 100)
  }

  /// Returns the article, which ends with a line feed.
  package func text() -> String {
    var lines = [
      "# Command reference", "",
      "All commands of `\(program.name)` with their options, examples and exit codes.", "",
      "## Overview", "",
      "`\(program.name) help --markdown` prints this page from the declarations that also define the parser, the help "
        + "texts, the completions and the manual page.",
    ]
    for topic in program.commandsByTopic {
      let names = topic.commands.map { "`\($0.name)`" }.joined(separator: ", ")
      lines += ["", "\(topic.title): \(names)."]
    }
    for command in program.commandsByTopic.flatMap(\.commands) { lines += section([command]) }
    lines += ["", "## Options of every command", ""] + options(program.globals)
    if !program.variables.isEmpty {
      lines += ["", "## Environment", ""]
      lines += program.variables.map { "- `\($0.name)`: \(Self.prose($0.help))." }
    }
    lines += ["", "## Exit codes", "", "| code | meaning |", "| --- | --- |"]
    lines += program.exitCodes.map { "| \($0.code) | \(Self.prose($0.meaning)) |" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func section(_ path: [CommandDeclaration]) -> [String] {
    guard let command = path.last else { return [] }
    let name = path.map(\.name).joined(separator: " ")
    var lines = ["", "\(path.count == 1 ? "##" : "###") \(name)", "", Self.sentence(command.summary)]
    // Subcommands have their own sections.
    if command.subcommands.isEmpty || !command.operands.isEmpty {
      lines += ["", "```"] + help.synopsis(path).prefix(1) + ["```"]
    }
    if !command.aliases.isEmpty {
      lines += ["", "Also: " + command.aliases.map { "`\($0)`" }.joined(separator: ", ") + "."]
    }
    for paragraph in command.details { lines += ["", Self.prose(paragraph)] }
    if !command.operands.isEmpty {
      lines += [""] + command.operands.map { "- `\($0.value.name)`: \(Self.prose($0.help))." }
    }
    for (heading, list) in help.optionSections([command]) {
      lines += ["", "\(heading):", ""] + options(list)
    }
    if !command.examples.isEmpty {
      lines += ["", "Examples:", ""]
      lines += command.examples.map { "- `\($0.line)` \(Self.prose($0.explanation))." }
    }
    let codes = command.exitCodes.map { code in "`\(code)`" }
    if !codes.isEmpty {
      lines += ["", "Exit codes besides `0`, `1` and `2`: \(codes.joined(separator: ", "))."]
    }
    return lines + command.subcommands.filter { !$0.isHidden }.flatMap { section(path + [$0]) }
  }

  private func options(_ options: [OptionDeclaration]) -> [String] {
    options.map { option in
      let names = [option.short.map { "-" + String($0) }, option.long.map { "--" + $0 }]
      let term = names.compactMap { $0 }.joined(separator: ", ") + option.valueNotation
      return "- `\(term)`: \(Self.prose(option.help))."
    }
  }

  private static func sentence(_ summary: String) -> String {
    prose(summary.prefix(1).uppercased() + summary.dropFirst()) + "."
  }

  /// Escapes the characters that Markdown interprets outside code.
  private static func prose(_ text: String) -> String {
    var isCode = false
    var escaped = ""
    for character in text {
      if character == "`" { isCode.toggle() }
      if !isCode, "\\*_<>[]|".contains(character) { escaped.append("\\") }
      escaped.append(character)
    }
    return escaped
  }
}
