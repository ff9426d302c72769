internal import Clocks
package import KeyringModel
package import OpenPGP
internal import Secrets

extension Keyring {
  /// Encrypts random bytes to the default group and decrypts them, then signs and verifies a line, as is done for every
  /// item.
  ///
  /// - Throws: The error that would prevent an item from being written or read; `.engine(.corrupt)` if the decrypted
  ///   bytes or the signature differ.
  package func roundTrip() throws(KeyringError) {
    do {
      try engine.roundTrip(recipients: policy.members(of: GroupName.default) ?? [], signer: trusted.signer)
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Returns the programs, homes, sockets and keys of the engine; `nil` for a test double.
  package func engineReport() -> EngineReport? { (engine as? Engine)?.report() }

  /// Returns the members' keys as they were listed when the engine was last prepared. Starts no process.
  ///
  /// - Returns: An empty array if the engine was never prepared on this machine, or for a test double.
  package func rememberedKeys() -> [PublicKey] { (engine as? Engine)?.rememberedKeys() ?? [] }

  /// The fingerprint of the key with which this user signs.
  package var ownFingerprint: Fingerprint { trusted.signer }
}

extension Keyring {
  /// Returns the time of one operation with this user's signing key; nil if no passphrase protects it, or if using it now
  /// would need a dialog.
  package func timeOfProtectedKey() -> Duration? { engine.timeOfProtectedKey(of: trusted.signer) }
}

extension OpenPGPEngine {
  /// Returns the time of one operation with a person's signing key; nil if no passphrase protects it, or if using it now
  /// would need a dialog. A key on a card is not used, because it may ask for a touch.
  ///
  /// - Parameter signer: The fingerprint of the person.
  package func timeOfProtectedKey(of signer: Fingerprint) -> Duration? {
    do throws(EngineError) {
      try checkPassphrase(of: signer)
      guard try cachedPassphrases(of: Recipient(signer)) == .all else { return nil }
      let start = SystemClock.awake
      _ = try signMessage(Array("keytree doctor".utf8), signer: signer)
      return SystemClock.awake - start
    } catch {
      // The round trip reports the errors of the engine.
      return nil
    }
  }

  /// Encrypts random bytes and decrypts them, then signs and verifies a line.
  ///
  /// - Parameters:
  ///   - recipients: The people to encrypt to, including this user.
  ///   - signer: The fingerprint of the signing key.
  /// - Throws: The error that would prevent an item from being written or read; `.corrupt` if the decrypted bytes or
  ///   the signature differ.
  package func roundTrip(recipients: [Recipient], signer: Fingerprint) throws(EngineError) {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let probe = SecretBytes(copying: bytes)
    let opened = try open(try seal(probe, to: recipients), limit: StoreLayout.secretLimit)
    guard opened.isEqual(to: probe) else { throw EngineError.corrupt }
    let facts = try verifyMessages([try signMessage(bytes, signer: signer)])
    guard let fact = facts[0], fact.primary == signer, fact.status == .good else { throw EngineError.corrupt }
  }
}

extension Index {
  /// Returns the folders of interrupted transactions. The next command that writes finishes or removes them.
  ///
  /// - Throws: A file error.
  package func unfinishedChanges() throws(KeyringError) -> [String] { try Transaction.pending(in: tree) }

  /// Returns the quarantine folders, to which `check --repair` moves files instead of deleting them.
  ///
  /// - Throws: A file error.
  package func quarantines() throws(KeyringError) -> [String] {
    try files(tree.list(StoreLayout.work))
      .filter { $0.hasPrefix(StoreLayout.quarantinePrefix) }.map { "\(StoreLayout.work)/\($0)" }
  }
}

extension Keyring {
  /// Returns the keys of the members, as GnuPG lists their accepted key files.
  ///
  /// - Throws: `KeyringError.engine` if GnuPG cannot list them.
  package func publicKeys() throws(KeyringError) -> [PublicKey] {
    do throws(EngineError) {
      return try engine.publicKeys()
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Returns the accepted key file of a member; nil for any other person.
  package func keyFile(of person: Fingerprint) -> [UInt8]? { trusted.keys[person] }
}
