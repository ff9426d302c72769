internal import Arguments
internal import CommandSupport
internal import Encoding
internal import OpenPGP
internal import Terminal

/// `keytree version`: prints the version, and with `--json` also those of the parts that it relies on.
enum VersionCommand: Command {
  static let declaration = CommandDeclaration(
    name: "version", summary: "print the version",
    details: [
      "`--json` adds the commit that the program was built from, and the versions of gpgme and GnuPG. A value that is "
        + "not known is `null`. Include this line in a report of a problem."
    ],
    examples: [
      Example("keytree version", "prints one line"),
      Example("keytree version --json", "prints the versions of keytree, gpgme and GnuPG, and the commit"),
    ])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard call.globals.json else {
      call.console.print(ProgramVersion.line)
      return .done
    }
    let engine = EngineVersions(searchPath: call.environment.searchPath)
    call.console.write([
      JSONMember("commit", text(call.program.commit)),
      JSONMember("gnupg", text(engine.gnupg)),
      JSONMember("gpgme", .string(engine.gpgme)),
      JSONMember("version", .string(ProgramVersion.number)),
    ])
    return .done
  }

  private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
}
