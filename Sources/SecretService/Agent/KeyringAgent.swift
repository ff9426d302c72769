internal import Keyring

/// The user's keys, as the agent of GnuPG has them.
struct KeyringAgent: KeyAgent {
  let store: OpenStore

  func cachedPassphrases() throws -> CachedPassphrases { try store.keyring().cachedPassphrases() }

  func forget() throws { try store.keyring().forgetPassphrases() }

  func roundTrip(_ cancellation: Cancellation) throws {
    try store.keyring().askForPassphrases(cancellation)
  }

  func confirm(_ question: String, _ cancellation: Cancellation) throws -> Bool {
    try store.keyring().confirm(question, cancellation)
  }
}
