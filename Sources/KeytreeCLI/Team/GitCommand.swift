internal import Arguments
internal import CommandSupport
internal import Sync
internal import Terminal

/// `keytree git`: runs git in the store.
enum GitCommand: Command {
  static let history = HistoryUse.before

  static let declaration = CommandDeclaration(
    name: "git", summary: "run git in the store's folder",
    details: [
      "Every argument after `git` is passed to git, so give options of keytree before it. Pending changes are "
        + "committed first. The exit status is that of git.",
      "Git runs without the hooks, monitors and drivers of the repository, and without the environment variables that "
        + "control it. A repository is refused if its own configuration has settings that can run programs; put such "
        + "settings into your own configuration. The same applies to a remote repository on this machine. Git connects "
        + "by ssh, http, https, git and paths; your own configuration can allow other transports by name, such as "
        + "`protocol.ext.allow`. Changes of the index are shown item by item; nothing is decrypted.",
      "`keytree git init` starts a history for a store that has none.",
    ],
    operands: [OperandDeclaration("ARGS", .bytes, count: .any, help: "the git command and its arguments")],
    examples: [
      Example("keytree git log -p", "shows what changed, and when"),
      Example(
        "keytree --store ~/work.keytree git remote add origin git@example.org:work.git", "uses another store"),
    ],
    exitCodes: [11], takesRest: true)

  static func run(_ call: CommandCall) throws -> ExitCode {
    let path = try call.storePath()
    let arguments = call.arguments.operands
    guard let repository = try call.repository() else {
      // Only for a store, not for any folder.
      _ = try call.openIndex()
      guard arguments.first?.text == "init", arguments.count == 1 else {
        throw GitError.noRepository(store: path)
      }
      for line in try call.makeHistory(path) { call.console.say(line) }
      try call.commitPending()
      return .done
    }
    try repository.refuseNestedRepositories()
    try repository.refuseSubmoduleRepositories()
    try repository.refuseOperationPrograms(before: arguments.map(\.bytes))
    try call.setUp(repository)
    let connection = try RemoteAccess.options(for: arguments.map(\.bytes), in: path, repository)
    call.console.flush()
    let pager = call.console.outputIsTerminal ? call.environment.text("PAGER") ?? "less" : nil
    // Signals from the keyboard are meant for git, which decides how to handle them.
    let interruption = Interruption()
    defer { interruption?.stop() }
    // The user may change the configuration, which is examined again before the next use.
    call.store.forgetRepository()
    let status = try repository.git.runForPerson(
      arguments.map(\.bytes), in: path, connection: connection, pager: pager)
    if status == 0 { return .done }
    throw CommandError.exit(status: status)
  }
}
