import Clocks
import Foundation
import Glibc
import Keyring
import KeyringModel
import OpenPGP
import SecretService
import Secrets
import SessionBus
import Synchronization
import TestSupport

@testable import DesktopKeyring

/// The service on a bus of its own, over a store with a stand-in for GnuPG. It runs on its own thread.
final class KeyringOnBus: Sendable {
  static let name = "org.freedesktop.secrets"

  let bus: TestBus
  let store = StandInStore()
  let agent = AgentDouble()
  private let stopPipe: [Int32]
  private let ready = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let state = Mutex(State())

  private struct State {
    var end: BusServer.End?
    var errors: [String] = []
    var explanations: [String] = []
    var historyCount = 0
  }

  /// The reason why the server ended; nil while it runs.
  var end: BusServer.End? { state.withLock { $0.end } }
  /// The errors that the server has reported.
  var errors: [String] { state.withLock { $0.errors } }
  /// The explanations of the server.
  var explanations: [String] { state.withLock { $0.explanations } }
  /// The number of times that the history was written.
  var historyCount: Int { state.withLock { $0.historyCount } }

  /// Starts the service, and returns when it owns its name.
  ///
  /// - Parameter asksLate: The option of the service.
  init(asksLate: Bool = false) throws {
    bus = try TestBus()
    try store.create()
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
    stopPipe = ends
    Thread { [self] in
      do {
        try serve(asksLate)
      } catch {
        state.withLock { $0.errors.append("\(error)") }
      }
      ready.signal()
      ended.signal()
    }.start()
    ready.wait()
  }

  private func serve(_ asksLate: Bool) throws {
    var options = ServiceOptions(
      stateBase: store.host.stateBase, clock: { SystemClock.awake }, date: { 1_700_000_000 })
    options.asksLate = asksLate
    let (host, path, engine) = (store.host, store.path, store.engine)
    let service = try SecretService(
      options: options,
      opening: {
        var host = host
        host.keepsIndex = true
        return try Keyring.open(at: path, host: host, faults: nil, engine: engine)
      }, agent: agent)
    var hooks = BusServer.Hooks()
    hooks.report = { [self] error in state.withLock { $0.errors.append("\(error)") } }
    hooks.explain = { [self] text in state.withLock { $0.explanations.append(text) } }
    hooks.afterWrite = { [self] in state.withLock { $0.historyCount += 1 } }
    let server = try BusServer(service, on: BusConnection(address: bus.address), hooks)
    guard try server.start(as: Self.name, replacing: false) else { return }
    ready.signal()
    let end = try server.serve(watching: stopPipe[0]) { true }
    state.withLock { $0.end = end }
  }

  /// Connects a client.
  func client() throws -> BusUser { BusUser(try BusConnection(address: bus.address)) }

  /// Waits until the server has ended, at most 10 seconds.
  func waitForEnd() { if ended.wait(timeout: .now() + 10) == .success { ended.signal() } }

  /// Stops the server and the bus.
  func stop() {
    var byte: UInt8 = 0
    _ = unsafe write(stopPipe[1], &byte, 1)
    waitForEnd()
    bus.close()
  }

  deinit { for end in stopPipe { close(end) } }

  /// Runs a test with a service, and stops it afterwards.
  static func run(asksLate: Bool = false, _ body: (KeyringOnBus) throws -> Void) throws {
    let keyring = try KeyringOnBus(asksLate: asksLate)
    defer { keyring.stop() }
    try body(keyring)
  }
}

/// A client of the service: the calls of a program, and the signals that it has received.
final class BusUser {
  static let root = "/org/freedesktop/secrets"
  static let defaultPath = root + "/collection/default"

  let connection: BusConnection
  private(set) var signals: [Signal] = []

  /// A signal that has arrived.
  struct Signal {
    let path: String
    let member: String
    let values: [BusValue]
  }

  init(_ connection: BusConnection) { self.connection = connection }

  /// Subscribes to all signals of the service and its objects.
  func listen() throws {
    try connection.handleSignals(matching: ["type='signal',path_namespace='\(Self.root)'"]) {
      [unowned self] signal in
      guard let values = try? signal.values(limit: .max) else { return }
      signals.append(Signal(path: signal.path, member: signal.member, values: values))
    }
  }

  /// Receives signals until one has a name, at most 10 seconds.
  ///
  /// - Returns: The first signal with that name, which is removed with all signals before it; nil if there was none.
  func signal(_ member: String) throws -> Signal? {
    for _ in 0..<2000 {
      while try connection.process() {}
      if let place = signals.firstIndex(where: { $0.member == member }) {
        defer { signals.removeSubrange(...place) }
        return signals[place]
      }
      usleep(5000)
    }
    return nil
  }

  /// Calls a method.
  @discardableResult
  func call(
    _ member: String, of interface: String, at path: String = BusUser.root, _ values: [BusValue] = []
  ) throws -> [BusValue] {
    try connection.call(member, of: interface, at: path, in: KeyringOnBus.name, values)
  }

  /// Calls a method, and returns the name of the error reply; nil for success.
  func errorName(
    _ member: String, of interface: String, at path: String = BusUser.root, _ values: [BusValue] = []
  ) throws -> String? {
    do {
      try call(member, of: interface, at: path, values)
      return nil
    } catch BusError.errorReply(let name, _) {
      return name
    }
  }

  /// Waits until the service has noticed that the agent has forgotten the passphrase, at most 10 seconds.
  func lockByAgent(_ keyring: KeyringOnBus) throws {
    keyring.agent.isCached = false
    let arguments: [BusValue] = [.string(InterfaceName.collection), .string("Locked")]
    for _ in 0..<1000 {
      let locked = try call("Get", of: InterfaceName.properties, at: Self.defaultPath, arguments)
      if locked == [.variant(.boolean(true))] { return }
      usleep(10_000)
    }
  }

  /// Opens a plain session.
  func session() throws -> String {
    let reply = try call("OpenSession", of: InterfaceName.service, [.string("plain"), .variant(.string(""))])
    guard case .objectPath(let path)? = reply.last else { throw BusError.malformed }
    return path
  }

  /// Stores an item, and returns its path.
  @discardableResult
  func store(
    _ attributes: [(String, String)], _ secret: String, session: String, label: String = "Label",
    replace: Bool = true, at path: String = BusUser.defaultPath
  ) throws -> String {
    let reply = try call(
      "CreateItem", of: InterfaceName.collection, at: path,
      [Self.properties(label, attributes), Self.secret(secret, session), .boolean(replace)])
    guard case .objectPath(let item)? = reply.first else { throw BusError.malformed }
    return item
  }

  /// Returns the secret of an item.
  func secret(of item: String, session: String) throws -> String {
    let reply = try call("GetSecret", of: InterfaceName.item, at: item, [.objectPath(session)])
    guard case .structure(let members)? = reply.first, case .bytes(let value) = members[2] else {
      throw BusError.malformed
    }
    return value.copy().text()
  }

  static func properties(_ label: String, _ attributes: [(String, String)]) -> BusValue {
    .dictionary([(PropertyKey.itemLabel, .string(label)), (PropertyKey.itemAttributes, .strings(attributes))])
  }

  static func secret(_ text: String, _ session: String) -> BusValue {
    .structure([.objectPath(session), bytes([]), bytes(Array(text.utf8)), .string("text/plain")])
  }

  static func bytes(_ bytes: [UInt8]) -> BusValue { .bytes(SecretSlice(SecretBytes(copying: bytes))) }
}

/// The user's keys in a test.
final class AgentDouble: KeyAgent {
  private struct State {
    var isUnlocked = true
    var roundTrips = 0
  }

  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)

  /// True if the agent knows the passphrase.
  var isCached: Bool {
    get { state.withLock { $0.isUnlocked } }
    set { state.withLock { $0.isUnlocked = newValue } }
  }

  /// The number of prompts that were shown.
  var roundTrips: Int { state.withLock { $0.roundTrips } }

  /// Answers one prompt: the user has entered the passphrase.
  func answer() { gate.signal() }

  func isUnlocked() throws -> Bool { isCached }

  func forget() throws { isCached = false }

  func roundTrip(_ cancellation: Cancellation) throws {
    state.withLock { $0.roundTrips += 1 }
    gate.wait()
    isCached = true
  }

  func confirm(_ question: String, _ cancellation: Cancellation) throws -> Bool { true }
}
