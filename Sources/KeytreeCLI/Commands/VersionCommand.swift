internal import Arguments

/// `keytree version`: prints the version and does nothing else.
enum VersionCommand: Command {
  static let declaration = CommandDeclaration(
    name: "version", summary: "print the version",
    examples: [Example("keytree version", "prints one line")])

  /// The line that the command prints.
  static var text: String { "keytree " + Program.version }

  static func run(_ call: CommandCall) throws -> ExitCode {
    call.console.print(text)
    return .done
  }
}
