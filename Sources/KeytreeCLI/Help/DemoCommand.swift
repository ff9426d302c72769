internal import Arguments
internal import CommandSupport
internal import Keyring
internal import OpenPGP
internal import Terminal

/// `keytree demo`: shows the main commands in a throw-away store.
enum DemoCommand: Command {
  static let declaration = CommandDeclaration(
    name: "demo", summary: "walk through it all in a throw-away store with throw-away keys",
    details: [
      "Your own store, keys and GnuPG home are not touched. The demo makes a key in a folder of its own below "
        + "`/tmp`, with a GnuPG agent of its own, and removes both at the end, also when it is stopped."
    ],
    examples: [Example("keytree demo", "shows each command and what it prints")], exitCodes: [3])

  static func run(_ call: CommandCall) throws -> ExitCode {
    // First and last: in between, no signal can end this process and leave the folder.
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
