internal import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// The commands of `security`, in the order of macOS. An abbreviation selects the first command that begins with it.
///
/// The list includes unsupported commands. Otherwise `delete` would select a different command than on macOS.
enum SecurityCommands {
  static let all: [SecurityCommand] = [
    help, SecurityKeychains.list, missing("list-smartcards"), SecurityKeychains.standard,
    SecurityKeychains.login,
    missing("create-keychain", secrets: "p"), missing("delete-keychain"), SecurityKeychains.lock,
    SecurityKeychains.unlock, missing("set-keychain-settings"),
    missing("set-keychain-password", secrets: "op"),
    SecurityKeychains.information, SecurityKeychains.dump, missing("create-keypair"),
    SecurityAddition.generic,
    SecurityAddition.internet, missing("add-certificates"), SecurityPasswords.findGeneric,
    SecurityPasswords.deleteGeneric, SecurityPasswords.genericAccess, SecurityPasswords.findInternet,
    SecurityPasswords.deleteInternet, SecurityPasswords.internetAccess, SecurityKeys.find,
    SecurityKeys.access,
    SecurityCertificates.find, SecurityCertificates.identities, SecurityCertificates.delete,
    missing("delete-identity"), missing("set-identity-preference"), missing("get-identity-preference"),
    missing("create-db"), missing("export", secrets: "P"), missing("import", secrets: "P"),
    missing("export-smartcard"), missing("cms", secrets: "p"), missing("install-mds"),
    missing("add-trusted-cert"),
    missing("remove-trusted-cert"), missing("dump-trust-settings"), missing("user-trust-settings-enable"),
    missing("trust-settings-export"), missing("trust-settings-import"), missing("verify-cert"),
    missing("authorize"), missing("authorizationdb"), missing("execute-with-privileges"), missing("leaks"),
    missing("error"), version,
  ]

  /// Returns the command for a name or an abbreviation. An empty name selects the first command.
  static func named(_ name: [UInt8]) -> SecurityCommand? {
    all.first { $0.name.utf8.starts(with: name) }
  }

  private static let help = SecurityCommand(
    "help", "", usage: "[command...]", "List all commands, or show the usage of some."
  ) { call in
    try explain(call.options.operands.map { $0.publicBytes() }, on: call.console)
  }

  private static let version = SecurityCommand("version", "", usage: "", "Show the version of keytree.") {
    call in
    call.console.print(ProgramVersion.line)
  }

  /// Returns a command of macOS that is not supported. Its letters for secrets are known, so that secrets are wiped.
  private static func missing(_ name: String, secrets: String = "") -> SecurityCommand {
    // Every letter is accepted; those for secrets have a value.
    let letters = (UInt8(ascii: "A")...UInt8(ascii: "z")).map { Unicode.Scalar($0) }
      .filter { $0.properties.isAlphabetic }
      .map { secrets.unicodeScalars.contains($0) ? "\($0):" : "\($0)" }
    return SecurityCommand(
      name, ":" + letters.joined() + "0", secrets: secrets, usage: "", "Not supported."
    ) { _ in
      throw SecurityFailure(
        .unimplemented, at: name,
        ["hint: `security help` lists these commands, `keytree help` those of keytree"])
    }
  }

  /// Prints the usage of the named commands, or the list of all commands if no name is given.
  static func explain(_ names: [[UInt8]], on console: Console) throws {
    if names.isEmpty {
      for command in all {
        let gap = String(repeating: " ", count: max(0, 36 - command.name.utf8.count))
        console.print("    \(command.name)\(gap) \(command.summary)")
      }
    }
    for name in names {
      guard let command = named(name) else {
        throw SecurityFailure(
          .failure, ["security: help: no such command: \(Escaping.terminal.show(name))"])
      }
      for line in command.usageLines { console.print(line) }
    }
  }
}
