import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import SecretService

/// A service over a store with a stand-in for GnuPG, and the functions of a client.
final class ServiceWorld {
  let store = StandInStore()
  let agent = AgentDouble()
  let clock = ManualClock()
  let reports = Tally()
  let changes = Tally()
  let history = HistoryDouble()
  let service: SecretService
  /// The store as another process has opened it.
  let other: Keyring
  let sender = Sender(":1.7")
  let stranger = Sender(":1.8")
  let session: ObjectPath

  /// - Parameters:
  ///   - groups: More groups of the user.
  ///   - asksLate: The option of the service.
  init(groups: [String] = [], asksLate: Bool = false) throws {
    try store.create()
    if !groups.isEmpty {
      let owner = store.owner
      try store.changePolicy { policy in
        for group in groups { policy.groups[group] = [owner] }
      }
    }
    other = try store.open()
    service = try Self.service(store, agent, clock, reports, changes, history, asksLate: asksLate)
    session = try service.openSession("plain", .text, for: sender).session
  }

  /// Starts another service on the same store, as after a restart.
  func restarted() throws -> SecretService {
    try Self.service(store, agent, clock, reports, changes, history, asksLate: false)
  }

  private static func service(
    _ store: StandInStore, _ agent: AgentDouble, _ clock: ManualClock, _ reports: Tally, _ changes: Tally,
    _ history: HistoryDouble, asksLate: Bool
  ) throws -> SecretService {
    var options = ServiceOptions(
      stateBase: store.host.stateBase, clock: { clock.now },
      date: { 1_700_000_100 + UInt64(clock.now.components.seconds) })
    options.asksLate = asksLate
    options.report = { _ in reports.add() }
    options.storeWasChanged = { _ in changes.add() }
    options.commitPending = { try history.commit() }
    let (host, path, engine) = (store.host, store.path, store.engine)
    return try SecretService(
      options: options,
      opening: {
        var host = host
        host.keepsIndex = true
        return try Keyring.open(at: path, host: host, faults: nil, engine: engine)
      }, agent: agent)
  }

  // MARK: Calls of a client

  /// Completes the work of an answer at once.
  func value<T>(_ answer: Answer<T>) throws -> T {
    switch answer {
    case .now(let value): value
    case .later(let work): try service.finish(work.run())
    }
  }

  func secret(_ text: String, type: String = "text/plain", session: ObjectPath? = nil) -> WireSecret {
    WireSecret(
      session: session ?? self.session, parameters: [], value: SecretSlice(SecretBytes(text: text)),
      contentType: type)
  }

  @discardableResult
  func add(
    _ attributes: ServiceAttributes, _ text: String = "secret", label: String = "Label",
    replace: Bool = false,
    in collection: CollectionID = .group("default")
  ) throws -> ObjectPath {
    try value(
      service.createItem(
        NewItemProperties(label: label, attributes: attributes), secret(text), replace: replace,
        in: collection,
        for: sender))
  }

  func item(_ path: ObjectPath) throws -> ItemAddress {
    guard case .item(let address) = try service.object(at: path, for: sender) else {
      throw SecretServiceError(.failed, "not an item")
    }
    return address
  }

  func text(of path: ObjectPath) throws -> String {
    let found = try value(service.secret(of: item(path), session: session, for: sender))
    return found.value.copy().text()
  }

  func search(_ attributes: ServiceAttributes) throws -> [ObjectPath] {
    let found = try service.searchItems(attributes)
    return found.unlocked + found.locked
  }

  func prompt(_ path: ObjectPath) throws -> PromptID {
    guard case .prompt(let id) = try service.object(at: path, for: sender) else {
      throw SecretServiceError(.failed, "not a prompt")
    }
    return id
  }

  /// Runs a prompt to its end, and returns its signal.
  func run(_ path: ObjectPath) throws -> ServiceEvent? {
    if let work = try service.prompt(prompt(path), for: sender) { try service.finish(work.run()) }
    clock.advance(.seconds(1))
    return service.takeEvents().last
  }

  /// The records of the items in the store, as another process sees them.
  func records() throws -> [ItemRecord] { try other.find(Query()).items }

  static let defaultPath = ObjectPath(.group("default"))
}

/// Expects an error of a kind.
func expect<T>(
  _ kind: SecretServiceError.Kind, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) {
  do {
    _ = try body()
    Issue.record("no error", sourceLocation: sourceLocation)
  } catch let error as SecretServiceError {
    #expect(error.kind == kind, "\(error)", sourceLocation: sourceLocation)
  } catch {
    Issue.record("\(error)", sourceLocation: sourceLocation)
  }
}

/// A clock that a test sets.
final class ManualClock: Sendable {
  private let time = Mutex(Duration.seconds(1000))
  var now: Duration { time.withLock { $0 } }
  func advance(_ duration: Duration) { time.withLock { $0 += duration } }
}

/// The user's keys in a test.
final class AgentDouble: KeyAgent {
  private struct State {
    var isUnlocked = true
    var agrees = true
    var questions: [String] = []
    var roundTrips = 0
    var forgotten = 0
    var queries = 0
    var failure: EngineError?
    var unlockFailure: EngineError?
    var isSilent = false
  }

  private let state = Mutex(State())

  var isCached: Bool {
    get { state.withLock { $0.isUnlocked } }
    set { state.withLock { $0.isUnlocked = newValue } }
  }

  /// The error of every call, as without an agent.
  var failure: EngineError? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// The error of the next attempts to unlock the keys, as if the user had cancelled pinentry.
  var unlockFailure: EngineError? {
    get { state.withLock { $0.unlockFailure } }
    set { state.withLock { $0.unlockFailure = newValue } }
  }

  /// True if the user agrees to questions.
  var agrees: Bool {
    get { state.withLock { $0.agrees } }
    set { state.withLock { $0.agrees = newValue } }
  }

  var questions: [String] { state.withLock { $0.questions } }
  var roundTrips: Int { state.withLock { $0.roundTrips } }
  var forgotten: Int { state.withLock { $0.forgotten } }
  var queries: Int { state.withLock { $0.queries } }

  func isUnlocked() throws -> Bool {
    try state.withLock { state in
      state.queries += 1
      if let failure = state.failure { throw KeyringError.engine(failure, nil) }
      return state.isUnlocked
    }
  }

  func forget() throws {
    try state.withLock { state in
      state.forgotten += 1
      if let failure = state.failure { throw KeyringError.engine(failure, nil) }
      state.isUnlocked = false
    }
  }

  func roundTrip(_ cancellation: Cancellation) throws {
    try state.withLock { state in
      state.roundTrips += 1
      if let failure = state.unlockFailure { throw KeyringError.engine(failure, nil) }
      if cancellation.isCancelled { throw KeyringError.engine(.cancelled, nil) }
      if let failure = state.failure { throw KeyringError.engine(failure, nil) }
      state.isUnlocked = true
    }
  }

  func confirm(_ question: String, _ cancellation: Cancellation) throws -> Bool {
    try state.withLock { state in
      state.questions.append(question)
      if cancellation.isCancelled { throw KeyringError.engine(.cancelled, nil) }
      return state.agrees
    }
  }
}

/// Counts calls.
final class Tally: Sendable {
  private let number = Mutex(0)
  var count: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}

/// A stand-in for the history of a store.
final class HistoryDouble: Sendable {
  struct Failure: Error {}

  private let state = Mutex((count: 0, isBroken: false))

  /// The number of commits.
  var count: Int { state.withLock { $0.count } }

  /// Makes all further commits fail.
  func breakDown() { state.withLock { $0.isBroken = true } }

  func commit() throws {
    try state.withLock { state in
      if state.isBroken { throw Failure() }
      state.count += 1
    }
  }
}
