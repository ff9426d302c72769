internal import Arguments
internal import CommandSupport
internal import Terminal

/// `keytree help`: explains the program or one command.
enum HelpCommand: Command {
  static let manual = OptionDeclaration(
    "man", help: "print the manual page of keytree or of a command in roff")
  static let markdown = OptionDeclaration(
    "markdown", help: "print the reference of all commands in Markdown")

  static let declaration = CommandDeclaration(
    name: "help", summary: "explain keytree or one command",
    operands: [
      OperandDeclaration("COMMAND", .bytes, count: .any, completion: .command, help: "the command to explain")
    ],
    options: [manual, markdown],
    examples: [
      Example("keytree help", "lists the commands"),
      Example("keytree help import csv", "explains one command"),
      Example("keytree help --man", "prints the manual page; `man -l -` shows it"),
      Example("keytree help --man add", "prints the page of one command"),
    ])

  static func run(_ call: CommandCall) throws -> ExitCode {
    if call.arguments.has(manual) {
      let pages = ManualPage(call.program.declaration, version: ProgramVersion.number)
      let command = try call.program.declaration.path(to: call.arguments.operands).first
      call.console.write(TerminalText(composed: command.map(pages.text) ?? pages.text()))
      return .done
    }
    if call.arguments.has(markdown) {
      call.console.write(TerminalText(composed: CommandReference(call.program.declaration).text()))
      return .done
    }
    let help = HelpText(call.program.declaration, width: call.console.width)
    let path = try call.program.declaration.path(to: call.arguments.operands)
    call.console.write(TerminalText(composed: path.isEmpty ? help.overview() : help.command(path)))
    return .done
  }
}
