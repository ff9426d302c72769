internal import Keyring
internal import OpenPGP
internal import Synchronization

/// The store that the functions of a process share. It is found and opened once and used by all threads.
final class KeychainSession: Sendable {
  static let shared = KeychainSession(KeychainSettings())

  /// Opens the store of the settings; the flag indicates whether the user may be asked for a passphrase.
  typealias Opening = @Sendable (KeychainSettings, _ asks: Bool) throws -> Keyring

  /// An open store, and the stamp of its policy when it was last compared with the one on disk.
  private struct OpenStore {
    let keyring: Keyring
    let stamp: TrustStamp?
  }

  private struct State {
    var settings: KeychainSettings
    var opening: Opening = { settings, asks in
      try Keyring.open(at: settings.storePath(), host: settings.host(asks: asks))
    }
    /// The open stores. The key indicates whether the user may be asked for a passphrase.
    var stores: [Bool: OpenStore] = [:]
    /// The cause of the last failure with each status.
    var causes: [OSStatus: String] = [:]
  }

  private let state: Mutex<State>

  init(_ settings: KeychainSettings) {
    state = Mutex(State(settings: settings))
  }

  var settings: KeychainSettings {
    get { state.withLock { $0.settings } }
    set { state.withLock { $0 = State(settings: newValue, opening: $0.opening) } }
  }

  /// The function that opens the store. Tests replace it with one that uses a fake GnuPG.
  var opening: Opening {
    get { state.withLock { $0.opening } }
    set { state.withLock { $0 = State(settings: $0.settings, opening: newValue) } }
  }

  /// Returns the store. Opens it at the first call, and again if another policy has been accepted since.
  ///
  /// - Parameter asks: True if the agent may ask the user for a passphrase.
  func keyring(asks: Bool = true) throws -> Keyring {
    let (settings, opening, open) = state.withLock { ($0.settings, $0.opening, $0.stores[asks]) }
    var stamp: TrustStamp?
    if let open {
      // If the stamp cannot be read, the store is opened again, which reports the reason if it fails.
      stamp = try? open.keyring.trustStamp()
      if let stamp, stamp == open.stamp, stamp.isSettled { return open.keyring }
    }
    let new = try opening(settings, asks)
    return state.withLock { state in
      guard state.settings == settings else { return new }
      // Keep the last store and its data in memory if its policy and keys are the same, even if another thread opened
      // it concurrently.
      let last = state.stores[asks]?.keyring
      let kept = last.flatMap { $0.hasSameTrust(as: new) ? $0 : nil } ?? new
      // The stamp was taken before the policy was read, so that a later change is noticed. The first store has no
      // stamp.
      state.stores[asks] = OpenStore(keyring: kept, stamp: stamp)
      return kept
    }
  }

  /// The cost of all open stores.
  var engineStatistics: EngineStatistics {
    let open = state.withLock { $0.stores.values.map(\.keyring.engineStatistics) }
    return open.reduce(into: EngineStatistics()) { sum, one in
      sum.decryptions += one.decryptions
      sum.encryptions += one.encryptions
      sum.signatures += one.signatures
      sum.processes += one.processes
    }
  }

  /// Makes a change. Tries once more if another policy was accepted between the check of the policy and the change.
  func change<R>(
    asks: Bool, _ body: (Keyring) throws -> R
  ) throws -> R {
    let keyring = try keyring(asks: asks)
    do {
      return try body(keyring)
    } catch {
      let failure = SecItemFailure(error)
      guard failure.status == errSecNotAvailable || failure.status == errSecMissingEntitlement else {
        throw error
      }
      let fresh = try self.keyring(asks: asks)
      if fresh === keyring { throw error }
      return try body(fresh)
    }
  }

  /// Remembers the cause of a failure for ``SecCopyErrorMessageString(_:_:)``, if it concerns the store and not a request
  /// or an item.
  func failed(with status: OSStatus, _ error: any Error) {
    guard let cause = (error as? KeyringError)?.causeOfStatus else { return }
    let store = settings.store
    let place = store.isEmpty || cause.contains(store) ? "" : " (store \(store))"
    state.withLock { $0.causes[status] = cause + place }
  }

  /// Returns the cause of the last failure with a status; nil if it is not known.
  func cause(of status: OSStatus) -> String? { state.withLock { $0.causes[status] } }
}
