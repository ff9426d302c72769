internal import Arguments
internal import CommandSupport
internal import DesktopKeyring
internal import Glibc
internal import Keyring
internal import SecretService
internal import SessionBus
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
    ],
    options: [replace, busName, printName, askLate],
    examples: [
      Example("keytree secret-service", "serves the keyring in the foreground")
    ],
    exitCodes: [1, 3, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let address = try BusAddress.session(
      variable: call.environment.text("DBUS_SESSION_BUS_ADDRESS"), runtimeFolder: call.environment.runtimeFolder)
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
      stateBase: try call.host().stateBase, clock: { MonotonicClock.now },
      date: { [clock = call.environment.clock] in UInt64(max(0, clock().microseconds / 1_000_000)) })
    options.asksLate = call.arguments.has(askLate)
    options.report = { inbox.add($0) }
    options.storeWasChanged = { _ in changes.add() }
    return try SecretService(options: options, opening: try call.keyringOpener())
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
