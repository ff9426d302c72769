import Glibc
import Secrets
import SessionBus
import TestSupport

/// A program of the desktop that calls the built service over a bus.
final class DesktopUser {
  static let root = "/org/freedesktop/secrets"
  static let collection = root + "/collection/default"
  private static let interface = "org.freedesktop.Secret."

  /// A signal that has arrived.
  struct Signal {
    let path: String
    let member: String
    let values: [BusValue]
  }

  let connection: BusConnection
  private(set) var signals: [Signal] = []
  private var session = BusValue.objectPath("/")

  /// Connects to the bus, and subscribes to all signals of the keyring.
  init(_ desktop: DesktopSession) throws {
    connection = try desktop.connect()
    try connection.handleSignals(matching: ["type='signal',path_namespace='\(Self.root)'"]) {
      [unowned self] signal in
      signals.append(
        Signal(
          path: signal.path, member: signal.member, values: (try? signal.values(limit: 1 << 22)) ?? []))
    }
  }

  @discardableResult
  func call(
    _ member: String, _ interface: String, _ path: String = DesktopUser.root, _ values: [BusValue] = []
  ) throws -> [BusValue] {
    try connection.call(
      member, of: Self.interface + interface, at: path, in: DesktopSession.name, values)
  }

  /// Opens the session that the other calls use.
  func openSession() throws {
    let reply = try call("OpenSession", "Service", Self.root, [.string("plain"), .variant(.string(""))])
    session = reply[1]
  }

  /// Stores an item, and returns its path.
  @discardableResult
  func store(_ attributes: [(String, String)], _ secret: String) throws -> String {
    let (empty, bytes) = (
      SecretSlice(SecretBytes(copying: [])), SecretSlice(SecretBytes(copying: Array(secret.utf8)))
    )
    let reply = try call(
      "CreateItem", "Collection", Self.root + "/aliases/default",
      [
        .dictionary([(Self.interface + "Item.Attributes", .strings(attributes))]),
        .structure([session, .bytes(empty), .bytes(bytes), .string("text/plain")]), .boolean(true),
      ])
    guard case .objectPath(let path)? = reply.first else { throw BusError.malformed }
    return path
  }

  /// Returns the secret of an item.
  func secret(of item: String) throws -> String {
    let reply = try call("GetSecret", "Item", item, [session])
    guard case .structure(let members)? = reply.first, case .bytes(let value) = members[2] else {
      throw BusError.malformed
    }
    return value.copy().text()
  }

  /// Returns the unlocked and the locked items with some attributes.
  func search(_ attributes: [(String, String)]) throws -> [BusValue] {
    try call("SearchItems", "Service", Self.root, [.strings(attributes)])
  }

  /// The property `Locked` of the default collection.
  var isLocked: Bool {
    get throws {
      let reply = try connection.call(
        "Get", of: "org.freedesktop.DBus.Properties", at: Self.collection, in: DesktopSession.name,
        [.string(Self.interface + "Collection"), .string("Locked")])
      return reply == [.variant(.boolean(true))]
    }
  }

  /// Waits until the default collection is locked or unlocked, at most 30 seconds.
  func wait(locked: Bool) throws -> Bool {
    for _ in 0..<3000 {
      if try isLocked == locked { return true }
      usleep(10_000)
    }
    return false
  }

  /// Asks for the default collection to be unlocked, and shows the prompt.
  ///
  /// - Returns: The prompt.
  func startUnlocking() throws -> String {
    let reply = try call("Unlock", "Service", Self.root, [.objectPaths([Self.collection])])
    guard case .objectPath(let prompt)? = reply.last, prompt != "/" else { throw BusError.malformed }
    try call("Prompt", "Prompt", prompt, [.string("")])
    return prompt
  }

  /// Waits for a signal, at most 30 seconds.
  ///
  /// - Returns: Its values; nil if it did not come.
  func values(of member: String, from path: String? = nil) throws -> [BusValue]? {
    for _ in 0..<3000 {
      while try connection.process() {}
      if let found = signals.first(where: { $0.member == member && (path ?? $0.path) == $0.path }) {
        return found.values
      }
      usleep(10_000)
    }
    return nil
  }

  /// Waits until a signal names an item, at most 30 seconds.
  func isTold(_ member: String, _ item: String) throws -> Bool {
    for _ in 0..<3000 {
      while try connection.process() {}
      if signals.contains(where: { $0.member == member && $0.values == [.objectPath(item)] }) { return true }
      usleep(10_000)
    }
    return false
  }
}
