package import Encoding
package import KeyringModel

/// What a key is needed for.
package enum KeyUse: Sendable {
  /// Sealing items to its owner.
  case encrypt
  /// Signing items and policies.
  case sign
}

/// The facts about a public key that decide what it can be used for.
package struct PublicKey: Sendable, Equatable {
  /// A key or subkey within it. The primary key is the first.
  package struct Subkey: Sendable, Equatable {
    /// Its own fingerprint.
    package var fingerprint: Fingerprint
    /// Its id, as it stands in messages.
    package var keyID: KeyID
    /// Whether it may encrypt.
    package var canEncrypt: Bool
    /// Whether it may sign data.
    package var canSign: Bool
    /// When it was made.
    package var created: Timestamp
    /// When it ends, or nil for never.
    package var expires: Timestamp?
    /// Whether its owner revoked it.
    package var revoked: Bool
    /// Whether GnuPG calls it disabled.
    package var disabled: Bool
    /// Whether GnuPG calls it invalid, for example for want of a self-signature.
    package var invalid: Bool

    /// Puts the facts together.
    ///
    /// - Parameters:
    ///   - fingerprint: Its own fingerprint.
    ///   - keyID: Its id.
    ///   - canEncrypt: Whether it may encrypt.
    ///   - canSign: Whether it may sign data.
    ///   - created: When it was made.
    ///   - expires: When it ends, or nil for never.
    ///   - revoked: Whether its owner revoked it.
    ///   - disabled: Whether GnuPG calls it disabled.
    ///   - invalid: Whether GnuPG calls it invalid.
    package init(
      fingerprint: Fingerprint, keyID: KeyID, canEncrypt: Bool, canSign: Bool, created: Timestamp,
      expires: Timestamp? = nil, revoked: Bool = false, disabled: Bool = false, invalid: Bool = false
    ) {
      self.fingerprint = fingerprint
      self.keyID = keyID
      self.canEncrypt = canEncrypt
      self.canSign = canSign
      self.created = created
      self.expires = expires
      self.revoked = revoked
      self.disabled = disabled
      self.invalid = invalid
    }

    /// Whether its time is over.
    ///
    /// - Parameter time: The time to ask for.
    /// - Returns: True from the second of `expires` on.
    package func expired(at time: Timestamp) -> Bool {
      guard let expires else { return false }
      return expires <= time
    }

    func serves(_ use: KeyUse) -> Bool {
      switch use {
      case .encrypt: canEncrypt
      case .sign: canSign
      }
    }
  }

  /// The fingerprint of the primary key: the person, as far as a policy is concerned.
  package var fingerprint: Fingerprint
  /// The user ids, as their owner wrote them: any text, to be escaped before it is shown.
  package var userIDs: [String]
  /// The primary key, then its subkeys.
  package var subkeys: [Subkey]
  /// Whether the secret half was found when the key was listed.
  package var hasSecret: Bool

  /// Puts the facts together.
  ///
  /// - Parameters:
  ///   - fingerprint: The fingerprint of the primary key.
  ///   - userIDs: The user ids.
  ///   - subkeys: The primary key, then its subkeys.
  ///   - hasSecret: Whether the secret half was found when the key was listed.
  package init(fingerprint: Fingerprint, userIDs: [String], subkeys: [Subkey], hasSecret: Bool) {
    self.fingerprint = fingerprint
    self.userIDs = userIDs
    self.subkeys = subkeys
    self.hasSecret = hasSecret
  }

  /// When the primary key was made.
  package var created: Timestamp { subkeys.first?.created ?? Timestamp(microseconds: 0) }
  /// When the primary key ends, or nil for never.
  package var expires: Timestamp? { subkeys.first?.expires }
  /// Whether the primary key was revoked.
  package var revoked: Bool { subkeys.first?.revoked ?? true }
  /// Whether the user disabled the key.
  package var disabled: Bool { subkeys.first?.disabled ?? true }

  /// Picks the subkey that gpg picks: the newest that is valid; of two made in the same second the first;
  /// the primary key only when no subkey will do.
  ///
  /// - Parameters:
  ///   - use: What the subkey is needed for.
  ///   - time: When.
  /// - Returns: The subkey, or nil when `problem(for:at:)` says why there is none.
  package func subkey(for use: KeyUse, at time: Timestamp) -> Subkey? {
    guard wholeKeyProblem(at: time) == nil else { return nil }
    var best: Subkey?
    for candidate in subkeys.dropFirst() where isValid(candidate, for: use, at: time) {
      if let current = best, candidate.created <= current.created { continue }
      best = candidate
    }
    if best == nil, let primary = subkeys.first, isValid(primary, for: use, at: time) { best = primary }
    return best
  }

  /// Says why the key cannot be used.
  ///
  /// - Parameters:
  ///   - use: What it is needed for.
  ///   - time: When.
  /// - Returns: The problem, or nil when the key can be used.
  package func problem(for use: KeyUse, at time: Timestamp) -> KeyProblem? {
    if let problem = wholeKeyProblem(at: time) { return problem }
    if subkey(for: use, at: time) != nil { return nil }
    let serving = subkeys.filter { $0.serves(use) && !$0.invalid }
    if let last = serving.filter({ !$0.revoked }).compactMap(\.expires).max(), last <= time {
      return .expired(last)
    }
    if !serving.isEmpty, serving.allSatisfy(\.revoked) { return .revoked }
    if !serving.isEmpty { return .invalid }
    switch use {
    case .encrypt: return .cannotEncrypt
    case .sign: return .cannotSign
    }
  }

  private func wholeKeyProblem(at time: Timestamp) -> KeyProblem? {
    guard let primary = subkeys.first else { return .invalid }
    if primary.revoked { return .revoked }
    if primary.expired(at: time) { return .expired(primary.expires ?? time) }
    if primary.disabled { return .disabled }
    if primary.invalid { return .invalid }
    return nil
  }

  private func isValid(_ subkey: Subkey, for use: KeyUse, at time: Timestamp) -> Bool {
    subkey.serves(use) && !subkey.revoked && !subkey.invalid && !subkey.disabled
      && !subkey.expired(at: time) && subkey.created <= time
  }
}
