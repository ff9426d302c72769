internal import Arguments
internal import CommandSupport
internal import Keyring
internal import OpenPGP
internal import Terminal

/// `keytree demo`: shows the main commands in a temporary store.
enum DemoCommand: Command {
  static let declaration = CommandDeclaration(
    name: "demo", summary: "show the main commands in a temporary store with temporary keys",
    details: [
      "Your own store, keys and GnuPG home are not touched. The demo creates keys in a temporary folder below `/tmp`, "
        + "with a separate GnuPG agent, and removes both at the end, even if it is interrupted."
    ],
    examples: [Example("keytree demo", "shows each command and its output")], exitCodes: [3])

  static func run(_ call: CommandCall) throws -> ExitCode {
    // Created before the folder and stopped after its removal, so that no signal can leave the folder behind.
    let interruption = Interruption()
    defer { interruption?.stop() }
    let home: TemporaryHome
    do {
      home = try TemporaryHome(
        prefix: "/tmp/keytree-demo-", searchPath: call.environment.searchPath)
    } catch {
      throw KeyringError.engine(error, nil)
    }
    defer { home.remove() }
    let demonstration = Demonstration(
      home, outer: call.environment, console: call.console, program: call.program)
    try demonstration { interruption?.takeSignal() != nil }
    return .done
  }
}
