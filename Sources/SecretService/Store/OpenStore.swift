internal import Keyring
internal import Synchronization

/// The store of the service. It is opened again when another policy has been accepted.
final class OpenStore: Sendable {
  private struct State {
    /// The open store, and the stamp of its policy when it was last compared with the one on disk.
    var open: (keyring: Keyring, stamp: TrustStamp?)?
  }

  private let opening: @Sendable () throws -> Keyring
  private let state = Mutex(State())

  /// - Parameter opening: Opens the store.
  init(opening: @escaping @Sendable () throws -> Keyring) { self.opening = opening }

  /// Returns the store. Any thread may call this.
  ///
  /// - Throws: The error of the first opening, or of opening the store after its policy has changed.
  func keyring() throws -> Keyring {
    let open = state.withLock { $0.open }
    var stamp: TrustStamp?
    if let open {
      // If the stamp cannot be read, the store is opened again, which reports the reason if it fails.
      stamp = try? open.keyring.trustStamp()
      if let stamp, stamp == open.stamp, stamp.isSettled { return open.keyring }
    }
    let new = try opening()
    return state.withLock { state in
      // The last store is kept if its policy and keys are the same, and with it the index in memory.
      let last = state.open?.keyring
      let kept = last.flatMap { $0.hasSameTrust(as: new) ? $0 : nil } ?? new
      if kept === new { new.index.cacheFromNow() }
      state.open = (kept, stamp)
      return kept
    }
  }

  /// Makes a change. Tries once more if another policy was accepted between the check of the policy and the change.
  func change<R>(_ body: (Keyring) throws -> R) throws -> R {
    let keyring = try keyring()
    do {
      return try body(keyring)
    } catch let error as KeyringError {
      guard case .policyNotTrusted = error else { throw error }
      let fresh = try self.keyring()
      if fresh === keyring { throw error }
      return try body(fresh)
    }
  }
}
