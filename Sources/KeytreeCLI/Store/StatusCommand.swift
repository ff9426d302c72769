internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree status`: shows the contents of the store and the pending work.
enum StatusCommand: Command {
  static let history = HistoryUse.before
  static let declaration = CommandDeclaration(
    name: "status", summary: "show what the store contains and what is pending",
    details: [
      "Counts items by class, lists people and groups, and reports what is damaged, unfinished or about to expire, and "
        + "what has changed in your keys in your own GnuPG keyring. `keytree check` checks the store thoroughly."
    ],
    examples: [Example("keytree status", "shows the state of the store")],
    exitCodes: [4, 8, 9, 11, 12])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let status = try StoreStatus(call)
    if call.globals.json {
      call.console.print(json: status.json)
    } else {
      call.console.print(status.facts)
    }
    call.explain(status.statistics)
    guard let distrust = status.distrust else { return .done }
    call.console.complain("hint: \(distrust.hint)")
    return .policyNotTrusted
  }
}
