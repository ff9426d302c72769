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
    /// The key, as GnuPG lists it.
    package let key: PublicKey
  }

  /// All secret keys, usable or not.
  public let candidates: [Candidate]
  private let user: UserKeyring

  /// The keys that can own a store now.
  public var usable: [Candidate] { candidates.filter { $0.problem == nil } }

  /// Lists the user's secret keys, which starts GnuPG.
  ///
  /// - Throws: `KeyringError.engine` if GnuPG is missing or fails.
  public init(host: HostContext) throws(KeyringError) {
    let keys: [PublicKey]
    user = UserKeyring(locations: host.engineLocations)
    do {
      keys = try user.secretKeys()
    } catch {
      throw .engine(error, nil)
    }
    let now = host.clock()
    candidates = keys.map { key in
      Candidate(
        fingerprint: key.fingerprint, userIDs: key.userIDs,
        problem: key.problem(for: .encrypt, at: now) ?? key.problem(for: .sign, at: now), key: key)
    }
  }

  /// Returns the fingerprints of the keys: the preferred one first while it can be used, then the others that can be
  /// used.
  ///
  /// - Parameter preferred: The preferred key, if any.
  func preferring(_ preferred: Fingerprint?) -> [Fingerprint] {
    let all = usable + candidates.filter { $0.problem != nil }
    guard let preferred, usable.contains(where: { $0.fingerprint == preferred }) else {
      return all.map(\.fingerprint)
    }
    return [preferred] + all.map(\.fingerprint)
  }

  /// Returns the candidates that a text names.
  ///
  /// - Parameter text: A full fingerprint, with or without spaces, in any case; a mail address, which must be equal
  ///   to the address in angle brackets, or to a whole user id without brackets; or, if no key matches, any other name
  ///   that gpg accepts, such as a long id, `0x` and a fingerprint, or a part of a user id.
  /// - Throws: `KeyringError.engine` if GnuPG cannot search the keys.
  public func matching(_ text: String) throws(KeyringError) -> [Candidate] {
    let exact = matchingExactly(text)
    if !exact.isEmpty || text.allSatisfy(\.isWhitespace) { return exact }
    do throws(EngineError) {
      let found = Set(try user.secretKeys(named: text).map(\.fingerprint))
      return candidates.filter { found.contains($0.fingerprint) }
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Throws an error if the file of a message shows that none of these keys can decrypt it. Nothing is decrypted.
  ///
  /// - Parameters:
  ///   - message: The encrypted message.
  ///   - limit: The maximum size of the message, in bytes.
  /// - Throws: `message` if it is not an encrypted message; `notARecipient`.
  package func requireRecipient(of message: [UInt8], limit: Int) throws(EngineError) {
    let recipients: [KeyID]
    do {
      recipients = try unsafe message.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
        try unsafe MessageHeader.parse(bytes, limit: limit).recipients
      }
    } catch {
      throw .message(error)
    }
    let own = candidates.lazy.flatMap(\.key.subkeys).filter { $0.secret != .elsewhere }.map(\.keyID)
    guard recipients.contains(where: { $0 == .hidden || own.contains($0) }) else {
      throw .notARecipient(recipients: recipients)
    }
  }

  /// Returns the candidates with the given fingerprint, or with the given mail address in a user id.
  package func matchingExactly(_ text: String) -> [Candidate] {
    let compact = text.filter { $0 != " " }.uppercased()
    if let fingerprint = Fingerprint(compact) { return candidates.filter { $0.fingerprint == fingerprint } }
    let mail = text.lowercased().utf8
    return candidates.filter { candidate in
      candidate.userIDs.contains { PublicKey.address(in: $0).utf8.elementsEqual(mail) }
    }
  }
}
