public import KeyringModel
public import OpenPGP

/// The secret keys in the user's own GnuPG home, from which a store's owner is chosen.
public struct OwnKeys: Sendable {
  /// A key with which a store could be kept.
  public struct Candidate: Sendable, Equatable {
    /// The primary key's fingerprint.
    public let fingerprint: Fingerprint
    /// The user ids, the primary one first.
    public let userIDs: [String]
    /// Why a store cannot be kept with it; `nil` when it can.
    public let problem: KeyProblem?
  }

  /// All secret keys, usable or not.
  public let candidates: [Candidate]

  /// Those with which a store can be kept now.
  public var usable: [Candidate] { candidates.filter { $0.problem == nil } }

  /// Lists the user's secret keys; starts GnuPG.
  ///
  /// - Throws: `KeyringError.engine` when GnuPG is missing or fails.
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

  /// The candidates with a fingerprint, or whose user ids hold a mail address.
  ///
  /// - Parameter text: a full fingerprint, with or without spaces, in any case; or a mail address, compared
  ///   as a whole with what stands in angle brackets, or with a user id that is nothing but an address.
  public func matching(_ text: String) -> [Candidate] {
    let compact = text.filter { $0 != " " }.uppercased()
    if let fingerprint = Fingerprint(compact) { return candidates.filter { $0.fingerprint == fingerprint } }
    let mail = text.lowercased().utf8
    return candidates.filter { candidate in
      candidate.userIDs.contains { userID in
        let lower = userID.lowercased()
        let address = lower.split(separator: "<").last?.split(separator: ">").first ?? Substring(lower)
        return address.utf8.elementsEqual(mail)
      }
    }
  }
}
