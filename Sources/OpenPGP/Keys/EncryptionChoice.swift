package import Encoding
package import KeyringModel

/// The subkeys of a person that items are encrypted to, as a command chooses them for the policy.
package struct EncryptionChoice: Sendable, Equatable {
  /// The chosen subkeys.
  package let subkeys: [Fingerprint]
  /// A newer valid subkey that was not chosen because its secret is not on this machine; nil if there is none.
  package let skipped: Fingerprint?
  /// The newest valid subkey whose secret is on this machine, if that of the chosen one is not; nil if there is none.
  package let here: Fingerprint?

  /// Creates a choice from its parts.
  package init(subkeys: [Fingerprint], skipped: Fingerprint?, here: Fingerprint? = nil) {
    (self.subkeys, self.skipped, self.here) = (subkeys, skipped, here)
  }
}

extension PublicKey {
  /// Returns the subkeys that can be encrypted to, the newest first. The primary key is last.
  ///
  /// - Parameter time: The time of use.
  package func encryptionSubkeys(at time: Timestamp) -> [Subkey] {
    guard let primary = subkeys.first, !primary.revoked, !primary.expired(at: time), !primary.invalid,
      !primary.disabled
    else { return [] }
    let valid = subkeys.filter {
      $0.canEncrypt && !$0.revoked && !$0.invalid && !$0.disabled && !$0.expired(at: time)
        && $0.created.microseconds <= time.microseconds + Self.clockTolerance
    }
    let newest = valid.dropFirst(valid.first?.fingerprint == fingerprint ? 1 : 0)
      .sorted { $0.created > $1.created }
    return newest + valid.prefix(1).filter { $0.fingerprint == fingerprint }
  }

  /// Chooses the subkeys to encrypt to.
  ///
  /// The newest valid subkey is chosen, for the user's own key the newest one whose secret is on this machine. A list of
  /// several subkeys was chosen by a person, so its valid ones stay. So was a listed subkey of the user's own key whose
  /// secret is on another machine: it stays unless the key has got a new one. Of another person's key, a listed subkey
  /// stays unless the key has got a new one, because only the owner knows where its secret is.
  ///
  /// - Parameters:
  ///   - listed: The subkeys in the policy; empty for a new person.
  ///   - secrets: The places of the secrets of the user's own subkeys; nil for another person's key.
  ///   - known: The subkeys that the key file in the store has; nil for a new person.
  ///   - time: The time of use.
  /// - Returns: The choice; nil if no subkey is valid.
  package func encryptionChoice(
    listed: [Fingerprint] = [], secrets: [Fingerprint: SecretPlace]?, known: Set<Fingerprint>? = nil,
    at time: Timestamp
  ) -> EncryptionChoice? {
    let valid = encryptionSubkeys(at: time)
    guard let newest = valid.first else { return nil }
    let kept = valid.map(\.fingerprint).filter(listed.contains)
    if listed.count > 1, !kept.isEmpty { return EncryptionChoice(subkeys: kept.sorted(), skipped: nil) }
    guard let secrets else {
      let isNew = known.map { !$0.contains(newest.fingerprint) } ?? true
      let chosen = isNew ? newest.fingerprint : kept.first ?? newest.fingerprint
      return EncryptionChoice(subkeys: [chosen], skipped: nil)
    }
    let here = valid.first { secrets[$0.fingerprint] != nil }?.fingerprint
    if let elsewhere = kept.first(where: { secrets[$0] == nil }),
      here.map({ known?.contains($0) ?? false }) ?? true
    {
      return EncryptionChoice(subkeys: [elsewhere], skipped: nil, here: here)
    }
    let chosen = here ?? kept.first ?? newest.fingerprint
    return EncryptionChoice(
      subkeys: [chosen], skipped: chosen == newest.fingerprint ? nil : newest.fingerprint)
  }
}
