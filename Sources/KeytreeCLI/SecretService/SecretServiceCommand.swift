internal import Arguments
internal import Clocks
internal import CommandSupport
internal import DesktopKeyring
internal import FileSystem
internal import Glibc
internal import Keyring
internal import SecretService
internal import SessionBus
internal import Sync
internal import Synchronization
internal import Terminal

/// `keytree secret-service`: serves the keyring of the desktop from a store.
enum SecretServiceCommand: Command {
  static let replace = OptionDeclaration(
    "replace", help: "take the place of a program that already serves the keyring, if it allows this")
  static let busName = OptionDeclaration(
    "bus-name", .required(ValueDeclaration("NAME", .text)),
    help: "use this name on the bus instead of `\(defaultName)`, for tests")
  static let printName = OptionDeclaration(
    "print-name", help: "print the name on the bus as soon as programs can use it")
  static let askLate = OptionDeclaration(
    "ask-late", help: "report collections as unlocked, and ask for the passphrase when a secret is read")
  static let install = OptionDeclaration(
    "install", help: "let the session bus start this command when a program asks for the keyring")
  static let uninstall = OptionDeclaration("uninstall", help: "remove the files that `--install` has written")

  /// The name that programs look for.
  static let defaultName = "org.freedesktop.secrets"

  static let declaration = CommandDeclaration(
    name: "secret-service", summary: "serve the desktop's keyring from the store",
    details: [
      "Serves the Secret Service API on the session bus until it is stopped, so that programs that use libsecret keep "
        + "their secrets in the store. Each secret becomes an item of the class `generic-password`; items that were "
        + "added in another way are not visible to these programs. Attributes and labels are public, as for all items.",
      "A collection is locked while GnuPG's agent does not have your passphrase. A program that reads a secret then "
        + "asks for a prompt, which pinentry shows.",
      "`--install` writes an activation file for the bus and a unit for systemd, and prints their paths. The variables "
        + "`GNUPGHOME` and `KEYTREE_STORE` are written into them if they are set.",
    ],
    options: [install, uninstall, replace, askLate, busName, printName],
    examples: [
      Example("keytree secret-service --install", "serves the keyring whenever a program needs it"),
      Example("keytree secret-service --replace", "serves it now, in the foreground"),
    ],
    exitCodes: [1, 3, 5, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let (installs, uninstalls) = (call.arguments.has(install), call.arguments.has(uninstall))
    guard !installs || !uninstalls else {
      throw call.misuse(.other("`--install` and `--uninstall` cannot be combined"))
    }
    if installs { return try install(call) }
    if uninstalls { return try uninstall(call) }
    return try serve(call)
  }

  // MARK: - Installation

  private static func install(_ call: CommandCall) throws -> ExitCode {
    let installation = try DesktopInstallation(call.environment)
    try installation.install(
      program: Repository.ownProgram ?? "/usr/bin/keytree", variables: try variables(call))
    for path in installation.paths { call.console.print(path) }
    for line in notes(call) { call.console.say(line) }
    return .done
  }

  private static func uninstall(_ call: CommandCall) throws -> ExitCode {
    let removed = try DesktopInstallation(call.environment).uninstall()
    for path in removed { call.console.print(path) }
    call.console.say(
      removed.isEmpty
        ? "Nothing was removed: the files do not exist, or Keytree has not written them."
        : "These files were removed. `systemctl --user stop \(DesktopInstallation.unitName)` stops the service."
    )
    return .done
  }

  /// Returns the variables that the service needs to find the same store and keys as this call.
  private static func variables(_ call: CommandCall) throws -> [(name: String, value: String)] {
    var variables: [(name: String, value: String)] = []
    if let home = call.environment.gnupgHome { variables.append(("GNUPGHOME", home)) }
    if call.globals.store != nil || call.environment.text("KEYTREE_STORE") != nil {
      let path = try call.storePath()
      variables.append(("KEYTREE_STORE", RealPath.of(path) ?? path))
    }
    return variables
  }

  private static func notes(_ call: CommandCall) -> [String] {
    let home = call.environment.gnupgHome ?? "~/.gnupg"
    return [
      "The session bus now starts Keytree when a program asks for the keyring of the desktop.",
      "`systemctl --user daemon-reload` makes systemd read the new unit.",
      "Labels and attributes are public, as in the rest of the store: only the secrets are encrypted.",
      "The agent forgets a passphrase ten minutes after its last use. For a working day, add to \(home)/gpg-agent.conf:",
      "  default-cache-ttl 28800", "  max-cache-ttl 28800",
      "`keytree doctor` reports another program that serves the keyring, and how to stop it.",
    ]
  }

  // MARK: - Service

  private static func serve(_ call: CommandCall) throws -> ExitCode {
    let address = try BusAddress.session(
      variable: call.environment.text("DBUS_SESSION_BUS_ADDRESS"),
      runtimeFolder: call.environment.runtimeFolder)
    let connection = try BusConnection(address: address)
    let (inbox, changes) = (ErrorInbox(), PendingChanges())
    let service = try service(call, inbox, changes)
    let name = call.arguments.text(busName) ?? defaultName
    let server = try BusServer(service, on: connection, hooks(call, inbox, changes))
    let signals = try SignalWatch()
    defer { signals.stop() }
    guard try server.start(as: name, replacing: call.arguments.has(replace)) else {
      throw NameTakenError(name, owner: owner(of: name, connection))
    }
    if call.arguments.has(printName) {
      call.console.print(name)
      call.console.flush()
    }
    let end = try server.serve(watching: signals.descriptor) { signals.take().contains { $0 != SIGCHLD } }
    if end == .nameLost { call.console.complain("keytree: another program has taken the name \(name)") }
    if end == .disconnected { call.console.complain("keytree: the session bus has ended") }
    return .done
  }

  /// Opens the store.
  private static func service(
    _ call: CommandCall, _ inbox: ErrorInbox, _ changes: PendingChanges
  ) throws -> SecretService {
    var options = ServiceOptions(
      stateBase: try call.host().stateBase, clock: { SystemClock.awake },
      date: { [clock = call.environment.clock] in UInt64(max(0, clock().microseconds / 1_000_000)) })
    options.asksLate = call.arguments.has(askLate)
    options.report = { inbox.add($0) }
    options.storeWasChanged = { _ in changes.add() }
    if let write = try call.historyWriter() { options.commitPending = write }
    let service: SecretService
    do {
      service = try SecretService(options: options, opening: try call.keyringOpener { inbox.add($0) })
    } catch KeyringError.noStore(let path) {
      throw CommandError.other(
        .cancelled, message: "cannot serve the keyring: \(path) is not a store",
        hint: "`keytree init` creates a store; `--store` and `KEYTREE_STORE` name another one")
    }
    // The collection in memory always exists.
    guard service.collections.count > 1 else {
      throw CommandError.other(
        .cancelled, message: "cannot serve the keyring: you are not a member of any group of the store",
        hint: "`keytree group list` shows the members, and `keytree doctor` your keys")
    }
    return service
  }

  private static func hooks(
    _ call: CommandCall, _ inbox: ErrorInbox, _ changes: PendingChanges
  ) throws -> BusServer.Hooks {
    var hooks = BusServer.Hooks()
    hooks.inbox = inbox
    let console = call.console
    hooks.report = { error in
      let report = ErrorReport(describing: error)
      if let message = report.message { console.complain("keytree: \(message)") }
    }
    if call.globals.explain { hooks.explain = { console.complain("explain: \($0)") } }
    // The change is committed after the reply, because a commit takes longer than the change itself.
    if let write = try call.historyWriter() { hooks.afterWrite = { if changes.take() { try write() } } }
    return hooks
  }

  /// Returns the process that owns a name; nil if the bus does not tell, or if it has just ended.
  private static func owner(of name: String, _ connection: BusConnection) -> BusClient? {
    try? connection.client(name)
  }
}

/// Notes that the store has changes that are not in its history.
private final class PendingChanges: Sendable {
  private let isPending = Mutex(false)

  func add() { isPending.withLock { $0 = true } }

  /// Returns true if there was a change since the last call.
  func take() -> Bool {
    isPending.withLock { isPending in
      defer { isPending = false }
      return isPending
    }
  }
}
