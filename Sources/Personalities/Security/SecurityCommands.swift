internal import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// The commands of `security` in the order of the original: an abbreviation means the first one that begins with it.
///
/// So those are there, too, that are not offered: otherwise `delete` would mean another command than on macOS.
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

  /// The command that a name means; an empty one means the first.
  static func named(_ name: [UInt8]) -> SecurityCommand? {
    all.first { $0.name.utf8.starts(with: name) }
  }

  private static let help = SecurityCommand(
    "help", "", usage: "[command...]", "Show all commands, or how to use some."
  ) { call in
    try explain(call.options.operands.map { $0.publicBytes() }, on: call.console)
  }

  private static let version = SecurityCommand("version", "", usage: "", "Show the version of keytree.") {
    call in
    call.console.print(ProgramVersion.line)
  }

  /// A command of the original that is not offered. Its letters with a secret are known, to hide it.
  private static func missing(_ name: String, secrets: String = "") -> SecurityCommand {
    // Any letter is one, and those with a secret take it.
    let letters = (UInt8(ascii: "A")...UInt8(ascii: "z")).map { Unicode.Scalar($0) }
      .filter { $0.properties.isAlphabetic }
      .map { secrets.unicodeScalars.contains($0) ? "\($0):" : "\($0)" }
    return SecurityCommand(
      name, ":" + letters.joined() + "0", secrets: secrets, usage: "", "Not offered here."
    ) { _ in
      throw SecurityFailure(
        .unimplemented, at: name,
        ["hint: `security help` shows the commands, `keytree help` those of keytree itself"])
    }
  }

  /// Prints how commands are used; without names all of them.
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
      console.print("Usage: \(command.name) \(command.usage)")
    }
  }
}
