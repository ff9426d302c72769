internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Synchronization

/// The user's keys, as the agent of GnuPG has them.
final class KeyringAgent: KeyAgent {
  /// The result of using both keys while the agent had the passphrases of some of them only.
  private struct Trial {
    let keys: Set<Fingerprint>
    let isUnlocked: Bool
  }

  private let store: OpenStore
  private let trial = Mutex<Trial?>(nil)

  init(store: OpenStore) { self.store = store }

  func isUnlocked() throws -> Bool {
    let keyring = try store.keyring()
    switch try keyring.cachedPassphrases() {
    case .all: return true
    case .none: return false
    case .some(let keys):
      if let last = trial.withLock({ $0 }), last.keys == keys { return last.isUnlocked }
      let isUnlocked = keyring.canUseKeysSilently()
      trial.withLock { $0 = Trial(keys: keys, isUnlocked: isUnlocked) }
      return isUnlocked
    }
  }

  func forget() throws {
    trial.withLock { $0 = nil }
    try store.keyring().forgetPassphrases()
  }

  func roundTrip(_ cancellation: Cancellation) throws {
    trial.withLock { $0 = nil }
    let keyring = try store.keyring()
    try keyring.askForPassphrases(cancellation)
    // Both keys have just been used. Trying them again would take longer than the service waits for an answer.
    let cached: CachedPassphrases = try keyring.cachedPassphrases()
    if case .some(let keys) = cached { trial.withLock { $0 = Trial(keys: keys, isUnlocked: true) } }
  }

  func confirm(_ question: String, _ cancellation: Cancellation) throws -> Bool {
    try store.keyring().confirm(question, cancellation)
  }
}
