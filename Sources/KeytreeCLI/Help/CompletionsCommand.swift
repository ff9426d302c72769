internal import Arguments
internal import CommandSupport
internal import Terminal

/// `keytree completions`: prints the completion script of a shell.
enum CompletionsCommand: Command {
  static let shell = OperandDeclaration(
    "SHELL", .choice(CompletionScript.Shell.allCases.map(\.rawValue)), help: "bash, zsh or fish")

  static let declaration = CommandDeclaration(
    name: "completions", summary: "print the completion script for a shell",
    details: [
      "Completes item names, too. They come from the index, and the shell does not expand them."
    ],
    operands: [shell],
    examples: [
      Example("source <(keytree completions bash)", "enables completion in this shell"),
      Example(
        "keytree completions fish > ~/.config/fish/completions/keytree.fish", "enables completion permanently"
      ),
    ])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let name = call.arguments.operand(0)?.text, let shell = CompletionScript.Shell(rawValue: name)
    else {
      throw call.misuse(.missingOperand(shell.value.name))
    }
    call.console.write(TerminalText(composed: CompletionScript.text(for: shell, call.program.declaration)))
    return .done
  }
}
