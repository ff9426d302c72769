internal import Arguments
internal import CommandSupport
internal import Terminal

/// `keytree version`: prints the version and does nothing else.
enum VersionCommand: Command {
  static let declaration = CommandDeclaration(
    name: "version", summary: "print the version",
    examples: [Example("keytree version", "prints one line")])

  static func run(_ call: CommandCall) throws -> ExitCode {
    call.console.print(ProgramVersion.line)
    return .done
  }
}
