package import OpenPGP

// For programs that run for a long time and unlock the user's keys before they use them.
extension Keyring {
  /// The store's folder.
  package var path: String { tree.path }

  /// Returns whether the agent has cached the passphrases that reading and storing an item require.
  ///
  /// - Throws: `KeyringError.engine`, for example if the agent cannot be reached.
  package func cachedPassphrases() throws(KeyringError) -> CachedPassphrases {
    try engineCall { engine throws(EngineError) in
      try engine.cachedPassphrases(of: policy.recipient(trusted.signer))
    }
  }

  /// Returns true if the user's keys can be used now without a dialog. Uses both keys once.
  package func canUseKeysSilently() -> Bool {
    var host = host
    host.interaction = .never
    let silent = host.engine(for: policy.keyring, keys: trusted.keys)
    // Any error means that the next use of the keys may need a dialog, and that use reports it.
    return (try? silent.roundTrip(recipients: [policy.recipient(trusted.signer)], signer: trusted.signer))
      != nil
  }

  /// Makes the user's agent forget all cached passphrases.
  ///
  /// - Throws: `KeyringError.engine`, for example if the agent cannot be reached.
  package func forgetPassphrases() throws(KeyringError) {
    try engineCall { engine throws(EngineError) in try engine.forgetPassphrases() }
  }

  /// Encrypts random bytes to the user's own key, decrypts them and signs them, so that the agent asks for the
  /// passphrases that it has not cached. Nothing is read from the store.
  ///
  /// - Parameter cancellation: Ends the dialog.
  /// - Throws: `KeyringError.engine` with the reason, such as `cancelled`.
  package func askForPassphrases(_ cancellation: Cancellation) throws(KeyringError) {
    let signer = trusted.signer
    try engineCall { engine throws(EngineError) in
      try engine.with(cancellation).roundTrip(recipients: [policy.recipient(signer)], signer: signer)
    }
  }

  /// Asks the user a question, through the agent.
  ///
  /// - Parameters:
  ///   - question: The text.
  ///   - cancellation: Ends the dialog.
  /// - Returns: True if the user agreed.
  /// - Throws: `KeyringError.engine` with the reason, such as `cancelled`.
  package func confirm(_ question: String, _ cancellation: Cancellation) throws(KeyringError) -> Bool {
    try engineCall { engine throws(EngineError) in try engine.with(cancellation).confirm(question) }
  }

  private func engineCall<R>(_ body: (any OpenPGPEngine) throws(EngineError) -> R) throws(KeyringError) -> R {
    do {
      return try body(engine)
    } catch {
      throw .engine(error, nil)
    }
  }
}
