package import Encoding
package import KeyringModel

/// The purpose of a key.
package enum KeyUse: Sendable {
  /// Encrypting items to its owner.
  case encrypt
  /// Signing items and policies.
  case sign
}

/// The place of the secret key of a primary key or subkey.
package enum SecretPlace: Sendable {
  /// Not on this machine.
  case elsewhere
  /// With the user's agent.
  case here
  /// On a card that was used on this machine.
  case onCard
}

/// The properties of a public key that decide what it can be used for.
package struct PublicKey: Sendable, Equatable {
  /// A primary key or subkey. The primary key is the first.
  package struct Subkey: Sendable, Equatable {
    /// Its own fingerprint.
    package var fingerprint: Fingerprint
    /// Its id, as used in messages.
    package var keyID: KeyID
    /// True if it may encrypt.
    package var canEncrypt: Bool
    /// True if it may sign data.
    package var canSign: Bool
    /// The creation time.
    package var created: Timestamp
    /// The expiry time; nil if it never expires.
    package var expires: Timestamp?
    /// The revocation that decides about it, its own or that of the primary key; nil if it is not revoked.
    package var revocation: KeyRevocation?
    /// The place of its secret key, if secret keys were listed; otherwise `elsewhere`.
    package var secret = SecretPlace.elsewhere
    /// True if GnuPG lists it as disabled.
    package var disabled: Bool
    /// True if GnuPG lists it as invalid, for example because a self-signature is missing.
    package var invalid: Bool
    /// True if GnuPG lists it as invalid because it does not know its algorithm.
    package var isUnsupported: Bool

    /// Creates a subkey from its properties.
    ///
    /// - Parameters:
    ///   - fingerprint: Its own fingerprint.
    ///   - keyID: Its id.
    ///   - canEncrypt: True if it may encrypt.
    ///   - canSign: True if it may sign data.
    ///   - created: The creation time.
    ///   - expires: The expiry time; nil if it never expires.
    ///   - revocation: The revocation that decides about it, if any.
    ///   - disabled: True if GnuPG lists it as disabled.
    ///   - invalid: True if GnuPG lists it as invalid.
    ///   - isUnsupported: True if that is because GnuPG does not know its algorithm.
    package init(
      fingerprint: Fingerprint, keyID: KeyID, canEncrypt: Bool, canSign: Bool, created: Timestamp,
      expires: Timestamp? = nil, revocation: KeyRevocation? = nil, disabled: Bool = false,
      invalid: Bool = false, isUnsupported: Bool = false
    ) {
      self.fingerprint = fingerprint
      self.keyID = keyID
      self.canEncrypt = canEncrypt
      self.canSign = canSign
      self.created = created
      self.expires = expires
      self.revocation = revocation
      self.disabled = disabled
      self.invalid = invalid
      self.isUnsupported = isUnsupported
    }

    /// True if its owner has revoked it.
    package var revoked: Bool { revocation != nil }

    /// Returns true if the key has expired.
    ///
    /// - Parameter time: The time to check.
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

  /// The fingerprint of the primary key. A policy identifies the person by it.
  package var fingerprint: Fingerprint
  /// The user ids: any text of the owner, which must be escaped before it is shown.
  package var userIDs: [String]
  /// The primary key, then its subkeys.
  package var subkeys: [Subkey]
  /// True if the secret key was found when the key was listed.
  package var hasSecret: Bool

  /// Creates a key from its properties.
  ///
  /// - Parameters:
  ///   - fingerprint: The fingerprint of the primary key.
  ///   - userIDs: The user ids.
  ///   - subkeys: The primary key, then its subkeys.
  ///   - hasSecret: True if the secret key was found when the key was listed.
  package init(fingerprint: Fingerprint, userIDs: [String], subkeys: [Subkey], hasSecret: Bool) {
    self.fingerprint = fingerprint
    self.userIDs = userIDs
    self.subkeys = subkeys
    self.hasSecret = hasSecret
  }

  /// The creation time of the primary key.
  package var created: Timestamp { subkeys.first?.created ?? Timestamp(microseconds: 0) }
  /// The expiry time of the primary key; nil if it never expires.
  package var expires: Timestamp? { subkeys.first?.expires }
  /// The revocation of the primary key; nil if it is not revoked.
  package var revocation: KeyRevocation? { subkeys.first?.revocation }
  /// True if the primary key was revoked.
  package var revoked: Bool { subkeys.first?.revoked ?? true }
  /// True if the primary key or a subkey was revoked.
  var hasRevocation: Bool { subkeys.contains(where: \.revoked) }
  /// True if the user disabled the key.
  package var disabled: Bool { subkeys.first?.disabled ?? true }

  /// Selects the newest valid subkey, or the first of several with the same creation time. The primary key is used only
  /// if no subkey is valid. One from the future counts as valid: it means that the clock is behind.
  ///
  /// - Parameters:
  ///   - use: The purpose.
  ///   - time: The time of use.
  /// - Returns: The subkey; nil if there is none.
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

  /// Returns the reason why the key cannot be used.
  ///
  /// - Parameters:
  ///   - use: The purpose.
  ///   - time: The time of use.
  /// - Returns: The problem; nil if the key can be used.
  package func problem(for use: KeyUse, at time: Timestamp) -> KeyProblem? {
    if let problem = wholeKeyProblem(at: time) { return problem }
    if let subkey = subkey(for: use, at: time) { return clockProblem(of: subkey, at: time) }
    let serving = subkeys.filter { $0.serves(use) && !$0.invalid }
    if let last = serving.filter({ !$0.revoked }).compactMap(\.expires).max(), last <= time {
      return .expired(last)
    }
    if serving.contains(where: { !$0.revoked }) { return .invalid }
    switch use {
    case .encrypt: return serving.isEmpty ? .cannotEncrypt : .revoked
    case .sign: return .cannotSign
    }
  }

  /// Returns the reason why a certain subkey cannot be used.
  ///
  /// - Parameters:
  ///   - subkey: The primary key or a subkey of this key.
  ///   - use: The purpose.
  ///   - time: The time of use.
  /// - Returns: The problem; nil if it can be used.
  package func problem(of subkey: Subkey, for use: KeyUse, at time: Timestamp) -> KeyProblem? {
    if let problem = wholeKeyProblem(at: time) { return problem }
    if isValid(subkey, for: use, at: time) { return clockProblem(of: subkey, at: time) }
    if subkey.revoked { return .revoked }
    if let expires = subkey.expires, expires <= time { return .expired(expires) }
    guard subkey.serves(use) else {
      switch use {
      case .encrypt: return .cannotEncrypt
      case .sign: return .cannotSign
      }
    }
    return .invalid
  }

  /// The time by which the clocks of two machines may differ, in microseconds: five minutes.
  static let clockTolerance: Int64 = 300 * 1_000_000

  /// Returns a problem if the key was created in the future.
  private func clockProblem(of subkey: Subkey, at time: Timestamp) -> KeyProblem? {
    let latest = max(created, subkey.created)
    return latest.microseconds > time.microseconds + Self.clockTolerance ? .fromFuture(latest) : nil
  }

  private func wholeKeyProblem(at time: Timestamp) -> KeyProblem? {
    guard let primary = subkeys.first else { return .invalid }
    if primary.revoked { return .revoked }
    if primary.expired(at: time) { return .expired(primary.expires ?? time) }
    if primary.disabled { return .disabled }
    // Outside of an engine home, GnuPG lists a key from the future as invalid.
    if primary.invalid { return clockProblem(of: primary, at: time) ?? .invalid }
    return nil
  }

  private func isValid(_ subkey: Subkey, for use: KeyUse, at time: Timestamp) -> Bool {
    subkey.serves(use) && !subkey.revoked && !subkey.invalid && !subkey.disabled
      && !subkey.expired(at: time)
  }
}
