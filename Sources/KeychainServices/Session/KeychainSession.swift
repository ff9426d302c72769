internal import Keyring
internal import OpenPGP
internal import Synchronization

/// The store that the functions of a process share: found and opened once, used by all threads.
final class KeychainSession: Sendable {
  static let shared = KeychainSession(KeychainSettings())

  /// Opens the store of some settings; the flag tells whether a passphrase may be asked for.
  typealias Opening = @Sendable (KeychainSettings, _ asks: Bool) throws -> Keyring

  /// An open store, and what its policy was when it was last compared with the one on disk.
  private struct OpenStore {
    let keyring: Keyring
    let stamp: TrustStamp?
  }

  private struct State {
    var settings: KeychainSettings
    var opening: Opening = { settings, asks in
      try Keyring.open(at: settings.store, host: settings.host(asks: asks))
    }
    /// The open stores, by whether a passphrase may be asked for.
    var stores: [Bool: OpenStore] = [:]
  }

  private let state: Mutex<State>

  init(_ settings: KeychainSettings) {
    state = Mutex(State(settings: settings))
  }

  var settings: KeychainSettings {
    get { state.withLock { $0.settings } }
    set { state.withLock { $0 = State(settings: newValue, opening: $0.opening) } }
  }

  /// The function that opens the store. Tests replace it by one with a stand-in for GnuPG.
  var opening: Opening {
    get { state.withLock { $0.opening } }
    set { state.withLock { $0 = State(settings: $0.settings, opening: newValue) } }
  }

  /// The store, opened at the first call, and again when another policy was accepted since.
  ///
  /// - Parameter asks: Whether the agent may ask a person for a passphrase.
  func keyring(asks: Bool = true) throws -> Keyring {
    let (settings, opening, open) = state.withLock { ($0.settings, $0.opening, $0.stores[asks]) }
    var stamp: TrustStamp?
    if let open {
      // What cannot be looked at is opened anew, which tells why it cannot, if it cannot.
      stamp = try? open.keyring.trustStamp()
      if let stamp, stamp == open.stamp, stamp.isSettled { return open.keyring }
    }
    let new = try opening(settings, asks)
    return state.withLock { state in
      guard state.settings == settings else { return new }
      // With what it has in memory, if that still holds: also when another thread has opened it meanwhile.
      let last = state.stores[asks]?.keyring
      let kept = last.flatMap { $0.hasSameTrust(as: new) ? $0 : nil } ?? new
      // The stamp was taken before the policy was read that it stands for; the first one was taken after nothing.
      state.stores[asks] = OpenStore(keyring: kept, stamp: stamp)
      return kept
    }
  }

  /// The cost of the stores that are open now.
  var engineStatistics: EngineStatistics {
    let open = state.withLock { $0.stores.values.map(\.keyring.engineStatistics) }
    return open.reduce(into: EngineStatistics()) { sum, one in
      sum.decryptions += one.decryptions
      sum.encryptions += one.encryptions
      sum.processes += one.processes
    }
  }

  /// Makes a change; once more when the policy was accepted anew between the look at it and the change.
  func change<R>(
    asks: Bool, _ body: (Keyring) throws -> R
  ) throws -> R {
    let keyring = try keyring(asks: asks)
    do {
      return try body(keyring)
    } catch {
      let failure = SecItemFailure(error)
      guard failure.status == errSecNotAvailable || failure.status == errSecMissingEntitlement else {
        throw failure
      }
      let fresh = try self.keyring(asks: asks)
      if fresh === keyring { throw failure }
      return try body(fresh)
    }
  }
}
