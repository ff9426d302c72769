public import KeyringModel
public import OpenPGP

/// The secret keys in the user's own GnuPG home, from which the owner of a new store is chosen.
public struct OwnKeys: Sendable {
  /// A key that may be able to own a store.
  public struct Candidate: Sendable, Equatable {
    /// The primary key's fingerprint.
    public let fingerprint: Fingerprint
    /// The user ids, the primary one first.
    public let userIDs: [String]
    /// The reason why the key cannot own a store; `nil` if it can.
    public let problem: KeyProblem?
  }

  /// All secret keys, usable or not.
  public let candidates: [Candidate]

  /// The keys that can own a store now.
  public var usable: [Candidate] { candidates.filter { $0.problem == nil } }

  /// Lists the user's secret keys, which starts GnuPG.
  ///
  /// - Throws: `KeyringError.engine` if GnuPG is missing or fails.
  public init(host: HostContext) throws(KeyringError) {
    let keys: [PublicKey]
    do {
      keys = try UserKeyring(locations: host.engineLocations).secretKeys()
    } catch {
      throw .engine(error, nil)
    }
    let now = host.clock()
    candidates = keys.map { key in
      Candidate(
        fingerprint: key.fingerprint, userIDs: key.userIDs,
        problem: key.problem(for: .encrypt, at: now) ?? key.problem(for: .sign, at: now))
    }
  }

  /// Returns the candidates with the given fingerprint, or with the given mail address in a user id.
  ///
  /// - Parameter text: A full fingerprint, with or without spaces, in any case; or a mail address, which must be equal
  ///   to the address in angle brackets, or to a whole user id without brackets.
  public func matching(_ text: String) -> [Candidate] {
    let compact = text.filter { $0 != " " }.uppercased()
    if let fingerprint = Fingerprint(compact) { return candidates.filter { $0.fingerprint == fingerprint } }
    let mail = text.lowercased().utf8
    return candidates.filter { candidate in
      candidate.userIDs.contains { PublicKey.address(in: $0).utf8.elementsEqual(mail) }
    }
  }
}
