internal import Keyring
internal import OpenPGP
internal import Synchronization

/// The store that the functions of a process share: found and opened once, used by all threads.
final class KeychainSession: Sendable {
  static let shared = KeychainSession(KeychainSettings())

  /// Opens the store of some settings; the flag tells whether a passphrase may be asked for.
  typealias Opening = @Sendable (KeychainSettings, _ asks: Bool) throws(KeyringError) -> Keyring

  private struct State {
    var settings: KeychainSettings
    var opening: Opening = { settings, asks throws(KeyringError) in
      try Keyring.open(at: settings.store, host: settings.host(asks: asks))
    }
    /// Whether a passphrase may be asked for, and the store that was opened so.
    var keyrings: [Bool: Keyring] = [:]
  }

  private let state: Mutex<State>

  init(_ settings: KeychainSettings) {
    state = Mutex(State(settings: settings))
  }

  var settings: KeychainSettings {
    get { state.withLock { $0.settings } }
    set { state.withLock { $0 = State(settings: newValue, opening: $0.opening) } }
  }

  /// How the store is opened: a seam for tests, which put a stand-in for GnuPG there.
  var opening: Opening {
    get { state.withLock { $0.opening } }
    set { state.withLock { $0 = State(settings: $0.settings, opening: newValue) } }
  }

  /// The store, opened at the first call.
  ///
  /// - Parameter asks: Whether the agent may ask a person for a passphrase.
  func keyring(asks: Bool = true) throws(SecItemFailure) -> Keyring {
    let (settings, opening, open) = state.withLock { ($0.settings, $0.opening, $0.keyrings[asks]) }
    if let open { return open }
    let new = try keyringStatus { () throws(KeyringError) in try opening(settings, asks) }
    // Of two threads that opened it at once, one's is kept.
    return state.withLock { state in
      guard state.settings == settings else { return new }
      let kept = state.keyrings[asks] ?? new
      state.keyrings[asks] = kept
      return kept
    }
  }

  /// What the stores that are open now have cost.
  var engineStatistics: EngineStatistics {
    let open = state.withLock { $0.keyrings.values.map(\.engineStatistics) }
    return open.reduce(into: EngineStatistics()) { sum, one in
      sum.decryptions += one.decryptions
      sum.encryptions += one.encryptions
      sum.processes += one.processes
    }
  }

  /// Forgets an open store whose policy may have changed since.
  func forget() { state.withLock { $0.keyrings = [:] } }

  /// Makes a change; when the policy was accepted anew since the store was opened, with the new one.
  func change<R>(
    asks: Bool, _ body: (Keyring) throws(SecItemFailure) -> R
  ) throws(SecItemFailure) -> R {
    let keyring = try keyring(asks: asks)
    do throws(SecItemFailure) {
      return try body(keyring)
    } catch {
      guard error.status == errSecNotAvailable || error.status == errSecMissingEntitlement else {
        throw error
      }
      forget()
      let fresh = try self.keyring(asks: asks)
      if fresh.policy == keyring.policy, fresh.distrust == keyring.distrust { throw error }
      return try body(fresh)
    }
  }
}
