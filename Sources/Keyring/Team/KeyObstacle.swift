package import Encoding
package import KeyringModel
package import OpenPGP

/// A member's key that has expired or was revoked, so that nothing can be signed with it or encrypted to it, with the
/// facts that a hint needs.
public struct KeyObstacle: Sendable, Equatable {
  /// The state of the key.
  package enum State: Sendable, Equatable {
    /// It has expired.
    case expired(Timestamp)
    /// Its owner has revoked it.
    case revoked(KeyRevocation)
  }

  /// The use of a subkey.
  package enum Use: String, Sendable {
    /// It signs records and policies.
    case signing
    /// Items are encrypted to it.
    case encryption
  }

  /// The fingerprint of the member.
  package var person: Fingerprint
  /// The name of the member.
  package var name: String
  /// The group that cannot be written to; nil if this user cannot sign.
  package var group: String?
  /// The state of the key.
  package var state: State
  /// The subkey that has ended, with its use; nil if the primary key has.
  package var subkey: (fingerprint: Fingerprint, use: Use)?
  /// The expired subkeys that have to be extended; their full fingerprints.
  package var expiredSubkeys: [Fingerprint] = []
  /// True if this user has the secret key.
  package var isMine = false
  /// True if this user is an admin.
  package var isAdmin = false
  /// True if the user's own keyring has the key in a newer state that can be used.
  package var isRenewedHere = false
  /// The groups of the member, for a hint.
  package var memberGroups: [String] = []
  /// True if the secret part of the primary key, which extends keys, is on this machine.
  package var hasPrimarySecret = true

  /// Returns true if both are equal.
  public static func == (left: KeyObstacle, right: KeyObstacle) -> Bool {
    left.person == right.person && left.name.hasSameBytes(as: right.name) && left.group == right.group
      && left.state == right.state && left.subkey?.fingerprint == right.subkey?.fingerprint
      && left.expiredSubkeys == right.expiredSubkeys && left.isMine == right.isMine
      && left.isAdmin == right.isAdmin && left.isRenewedHere == right.isRenewedHere
      && left.hasPrimarySecret == right.hasPrimarySecret
  }
}

extension Keyring {
  /// Returns the facts about a member's key that has expired or was revoked, in the store or in the user's own keyring.
  ///
  /// - Parameters:
  ///   - person: The member.
  ///   - group: The group that cannot be encrypted to; nil if this user cannot sign.
  /// - Returns: nil if the key is in another state, for example because GnuPG does not list it.
  /// - Throws: `KeyringError.engine` if the keys cannot be listed.
  func obstacle(of person: Fingerprint, group: String?) throws(KeyringError) -> KeyObstacle? {
    guard let entry = policy.people[person] else { return nil }
    let isMine = try ownPeople().contains(person)
    let isAdmin = try isAdmin()
    do throws(EngineError) {
      guard let key = try engine.publicKeys().first(where: { $0.fingerprint == person }) else { return nil }
      return try obstacle(of: key, entry, group: group, isMine: isMine, isAdmin: isAdmin)
    } catch {
      throw .engine(error, nil)
    }
  }

  private func obstacle(
    of key: PublicKey, _ entry: Person, group: String?, isMine: Bool, isAdmin: Bool
  ) throws(EngineError) -> KeyObstacle? {
    let person = key.fingerprint
    let now = host.clock()
    var obstacle = KeyObstacle(
      person: person, name: entry.name, group: group, state: .expired(now), subkey: nil)
    obstacle.memberGroups = policy.groups(of: person)
    (obstacle.isMine, obstacle.isAdmin) = (isMine, isAdmin)
    let user = UserKeyring(locations: host.engineLocations)
    let own = isMine ? try user.publicKey(person) : nil
    if let revocation = key.revocation ?? own?.revocation {
      obstacle.state = .revoked(revocation)
      return obstacle
    }
    let ended = key.expiredSubkeys(listed: entry.encryptTo, at: now)
    obstacle.expiredSubkeys = ended.map(\.subkey.fingerprint)
    if let end = key.expires, key.subkeys[0].expired(at: now) {
      obstacle.state = .expired(end)
    } else if let first = group == nil ? ended.first : ended.first(where: { $0.use == .encryption }),
      let end = first.subkey.expires
    {
      obstacle.state = .expired(end)
      obstacle.subkey = (first.subkey.fingerprint, first.use)
    } else {
      return nil
    }
    if let own {
      obstacle.isRenewedHere =
        own.problem(for: .sign, at: now) == nil
        && own.expiredSubkeys(listed: entry.encryptTo, at: now).isEmpty
      obstacle.hasPrimarySecret = try user.secretSubkeys()[person]?[person] != nil
    }
    return obstacle
  }
}

extension PublicKey {
  /// Returns the expired subkeys that the owner has to extend: the newest one that signs if none can sign, and the listed
  /// ones that are encrypted to. A part without an end date is never among them.
  ///
  /// - Parameters:
  ///   - listed: The subkeys that the policy names for encryption.
  ///   - time: The time of use.
  package func expiredSubkeys(
    listed: [Fingerprint], at time: Timestamp
  ) -> [(subkey: Subkey, use: KeyObstacle.Use)] {
    let parts = subkeys.dropFirst().filter { !$0.revoked && !$0.invalid }
    var ended: [(subkey: Subkey, use: KeyObstacle.Use)] = []
    let signing = parts.filter(\.canSign)
    let primarySigns = subkeys.first.map { $0.canSign && !$0.revoked } ?? false
    if !primarySigns, signing.allSatisfy({ $0.expired(at: time) }),
      let newest = signing.max(by: { $0.created < $1.created })
    {
      ended.append((newest, .signing))
    }
    ended += parts.filter { listed.contains($0.fingerprint) && $0.expired(at: time) }.map {
      ($0, .encryption)
    }
    return ended
  }

  /// Returns the reason why a person whose key has subkeys that sign can no longer sign, or not yet.
  ///
  /// - Parameter time: The time of use.
  /// - Returns: `cannotSign` if all of these subkeys have expired or were revoked; `fromFuture` if the newest one was
  ///   created in the future; nil in all other cases.
  func signingProblem(at time: Timestamp) -> KeyProblem? {
    guard subkeys.contains(where: \.canSign) else { return nil }
    switch problem(for: .sign, at: time) {
    case .expired, .revoked, .cannotSign: return .cannotSign
    case .fromFuture(let created): return .fromFuture(created)
    default: return nil
    }
  }

  /// Returns the time when the key stops being usable: the earliest of the expiry of the primary key, of the last listed
  /// encryption subkey and of the last signing subkey. Nil if it never expires.
  ///
  /// - Parameter listed: The subkeys that the policy names for encryption.
  package func end(listed: [Fingerprint]) -> Timestamp? {
    func last(_ parts: [Subkey]) -> Timestamp? {
      parts.contains { $0.expires == nil } ? nil : parts.compactMap(\.expires).max()
    }
    let parts = subkeys.filter { !$0.revoked && !$0.invalid }
    let ends = [
      expires, last(parts.filter { listed.contains($0.fingerprint) }), last(parts.filter(\.canSign)),
    ]
    return ends.compactMap { $0 }.min()
  }
}

extension Keyring {
  /// Returns the members whose keys end before a time, with the ends, sorted by fingerprint.
  ///
  /// - Parameters:
  ///   - time: The time.
  ///   - keys: The keys of the members.
  package func ends(before time: Timestamp, of keys: [PublicKey]) -> [(person: Fingerprint, end: Timestamp)] {
    keys.compactMap { key in
      guard policy.isMember(key.fingerprint), let entry = policy.people[key.fingerprint],
        let end = key.end(listed: entry.encryptTo), end <= time
      else { return nil }
      return (key.fingerprint, end)
    }.sorted { $0.person < $1.person }
  }
}
