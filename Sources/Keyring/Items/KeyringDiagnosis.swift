package import KeyringModel
package import OpenPGP
internal import Secrets

extension Keyring {
  /// Encrypts a few random bytes to the default group, decrypts them again, and signs and verifies a line, as for every
  /// item.
  ///
  /// - Throws: what would keep an item from being written or read; `.engine(.corrupt)` when the bytes come
  ///   back changed.
  package func roundTrip() throws(KeyringError) {
    do {
      try engine.roundTrip(recipients: policy.groups[GroupName.default] ?? [], signer: trusted.signer)
    } catch {
      throw .engine(error, nil)
    }
  }

  /// The facts about the engine: programs, homes, sockets, keys; `nil` with a stand-in.
  package func engineReport() -> EngineReport? { (engine as? Engine)?.report() }

  /// The people's keys as they were listed when the engine was last made ready; starts no process.
  ///
  /// - Returns: nothing when it was never made ready on this machine, or with a stand-in.
  package func rememberedKeys() -> [PublicKey] { (engine as? Engine)?.rememberedKeys() ?? [] }

  /// Who signs what this user writes.
  package var ownFingerprint: Fingerprint { trusted.signer }
}

extension SealingEngine {
  /// Encrypts a few random bytes and decrypts them again, and signs and verifies a line.
  ///
  /// - Parameters:
  ///   - recipients: the people to encrypt to, this user among them.
  ///   - signer: who signs.
  /// - Throws: what would keep an item from being written or read; `.corrupt` when the bytes or the signature
  ///   come back changed.
  package func roundTrip(recipients: [Fingerprint], signer: Fingerprint) throws(EngineError) {
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
  /// Folders of changes that were cut off; the next command that writes finishes or removes them.
  ///
  /// - Throws: a file error.
  package func unfinishedChanges() throws(KeyringError) -> [String] { try Transaction.pending(in: tree) }

  /// Folders in which `check --repair` has put aside what it did not delete.
  ///
  /// - Throws: a file error.
  package func quarantines() throws(KeyringError) -> [String] {
    try files(tree.list(StoreLayout.work))
      .filter { $0.hasPrefix(StoreLayout.quarantinePrefix) }.map { "\(StoreLayout.work)/\($0)" }
  }
}

extension Keyring {
  /// The key file of a member, as it was accepted; nil for anybody else.
  package func keyFile(of person: Fingerprint) -> [UInt8]? { trusted.keys[person] }
}
