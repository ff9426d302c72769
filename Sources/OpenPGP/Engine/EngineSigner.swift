internal import CGPGME
internal import KeyringModel
internal import Synchronization

extension Engine {
  /// The number of signatures before the signer is given to libgpgme as a key object, which costs a process.
  private static let patience = 8

  /// Runs an operation that signs.
  ///
  /// The signer usually is the default of the engine home, which costs nothing. If the home has another default, or
  /// gpg chose another key, libgpgme gets the signer as a key object, which costs one more process, once. This is also
  /// done after several signatures: for a default signer gpg checks each time whether there is a card, and without a
  /// card daemon the agent tries to start it each time.
  ///
  /// If the secret of the key is no longer here, another subkey of the person signs.
  ///
  /// - Parameters:
  ///   - person: The primary fingerprint of the signer.
  ///   - isRevokedHere: True to sign even if the user's own keyring revokes the key. Such a signer is not remembered.
  ///   - operation: Gets the session, the signer, and true if libgpgme needs it as a key object. Returns nil if another
  ///     key has signed.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation; `unusableKey` when gpg does not sign with a key of the person.
  func withSigner<R>(
    _ person: Fingerprint, evenIfRevokedHere isRevokedHere: Bool = false,
    _ operation: (Session, DefaultSigner, _ isNamed: Bool) throws(EngineError) -> R?
  ) throws(EngineError) -> R {
    try withAgent { session throws(EngineError) in
      if isRevokedHere {
        let signer = try select(person, in: session, evenIfRevokedHere: true)
        return try run(operation, signer, isDefault: false, session)
      }
      let (first, isDefault) = try signer(person, in: session)
      do throws(EngineError) {
        return try run(operation, first, isDefault: isDefault, session)
      } catch {
        guard case .unusableKey(_, .noSecretKey) = error, first.key != nil else { throw error }
        // The secret may be gone. If it is still listed, the agent has failed.
        let other = try select(person, in: session)
        guard other.key != first.key else { throw error }
        return try run(operation, other, isDefault: try adopt(other, in: session), session)
      }
    }
  }

  private func run<R>(
    _ operation: (Session, DefaultSigner, _ isNamed: Bool) throws(EngineError) -> R?, _ signer: DefaultSigner,
    isDefault: Bool, _ session: Session
  ) throws(EngineError) -> R {
    let isFrequent = signings.add(1, ordering: .relaxed).newValue > Self.patience
    if isDefault, !isFrequent, let result = try operation(session, signer, false) { return result }
    if let result = try operation(session, signer, true) { return result }
    throw .unusableKey(signer.person, .noSecretKey)
  }

  /// Returns the subkey with which a person signs; nil if gpg selects it.
  ///
  /// - Throws: `unusableKey` if there is none.
  func signingKey(of person: Fingerprint, in session: Session) throws(EngineError) -> Fingerprint? {
    try signer(person, in: session).signer.key
  }

  /// Returns the signer for a person, and true if it is the default of the home.
  private func signer(
    _ person: Fingerprint, in session: Session
  ) throws(EngineError) -> (signer: DefaultSigner, isDefault: Bool) {
    if let current = session.home.defaultSigner, current.person == person, isUsable(current, session) {
      return (current, true)
    }
    if let known = signerKeys.withLock({ $0[person] })?.signer, isUsable(known, session) {
      return (known, false)
    }
    let selected = try select(person, in: session)
    return (selected, try adopt(selected, in: session))
  }

  /// Makes a signer the default of the home, unless another person is. Returns true if it is the default now.
  ///
  /// A signer without a key is never stored: the agent may only have been unable to list the secret keys.
  private func adopt(_ signer: DefaultSigner, in session: Session) throws(EngineError) -> Bool {
    guard signer.key != nil else { return false }
    if let current = session.home.defaultSigner, current.person != signer.person { return false }
    try session.home.adoptDefaultSigner(signer)
    return true
  }

  /// Returns true if a signer was selected for the present keyring of the user, and has not expired since.
  private func isUsable(_ signer: DefaultSigner, _ session: Session) -> Bool {
    guard signer.isCurrent else { return false }
    guard let name = signer.key else { return true }
    guard let key = session.home.table.keys[signer.person],
      let subkey = key.subkeys.first(where: { $0.fingerprint == name })
    else { return false }
    return key.problem(of: subkey, for: .sign, at: Self.now) == nil
  }

  /// Selects the newest subkey that is valid by the certificate, whose secret is here, and that the user's own keyring
  /// does not revoke. Starts two processes to list the secret keys, and more if a key is revoked, if no secret key is
  /// listed, or if the path of the user's home is not known.
  private func select(
    _ person: Fingerprint, in session: Session, evenIfRevokedHere isRevokedHere: Bool = false
  ) throws(EngineError) -> DefaultSigner {
    guard let key = session.home.table.keys[person] else { throw .unusableKey(person, .missing) }
    let userHome =
      if let known = locations.userHome { known } else { try tools().gpgconf.places(home: nil).home }
    // Read before the listing, so that a change in between is noticed later.
    let stamp = DefaultSigner.stamp(ofHome: userHome)
    // As in `UserKeyring`, a listing does not prompt.
    let context = try Context(program: session.program, home: locations.userHome, interaction: .pinentry)
    func keys(secretOnly: Bool) throws(EngineError) -> [PublicKey] {
      try context.wholeKeys(
        matching: person.text, secretOnly: secretOnly, processStarted: { counter.processStarted() })
    }
    let secret = try keys(secretOnly: true).first { $0.fingerprint == person }
    let now = Self.now
    let valid = (key.subkeys.dropFirst() + key.subkeys.prefix(1)).filter {
      key.problem(of: $0, for: .sign, at: now) == nil
    }
    func signer(_ key: Fingerprint?) -> DefaultSigner {
      DefaultSigner(person: person, key: key, userHome: userHome, stamp: stamp)
    }
    guard let secret, secret.subkeys.contains(where: { $0.secret != .elsewhere }) else {
      // The agent may have a secret key that the keyring does not list, such as one that is forwarded. A restricted socket
      // does not tell which secret keys there are. gpg selects one then, unless the keyring revokes one of them.
      let own = try keys(secretOnly: false).first { $0.fingerprint == person }
      guard let own, own.hasRevocation, !isRevokedHere else { return signer(nil) }
      return signer(try Self.unrevoked(valid, by: own, of: key).fingerprint)
    }
    let here = valid.filter { subkey in
      secret.subkeys.contains { $0.fingerprint == subkey.fingerprint && $0.secret != .elsewhere }
    }
    guard let newest = Self.newest(valid, of: key) else { throw .unusableKey(person, .cannotSign) }
    guard !here.isEmpty else { throw .unusableKey(person, .noSigningSecret(newest.keyID)) }
    if isRevokedHere { return signer(Self.newest(here, of: key)?.fingerprint) }
    return signer(try Self.unrevoked(here, by: secret, of: key).fingerprint)
  }

  /// Returns the newest of some keys that the user's own keyring does not revoke.
  ///
  /// - Throws: `unusableKey` with `revoked` if the whole key is revoked, with `revokedHere`, or with `cannotSign` if there
  ///   are no keys.
  private static func unrevoked(
    _ keys: [PublicKey.Subkey], by own: PublicKey, of key: PublicKey
  ) throws(EngineError) -> PublicKey.Subkey {
    if own.revoked { throw .unusableKey(key.fingerprint, .revoked) }
    let revoked = Set(own.subkeys.filter(\.revoked).map(\.fingerprint))
    let rest = keys.filter { !revoked.contains($0.fingerprint) }
    if let chosen = newest(rest, of: key) { return chosen }
    guard let newest = newest(keys, of: key) else { throw .unusableKey(key.fingerprint, .cannotSign) }
    throw .unusableKey(key.fingerprint, .revokedHere(newest.keyID))
  }

  /// Returns the newest of some keys; the primary key only if it is the only one.
  private static func newest(_ keys: [PublicKey.Subkey], of key: PublicKey) -> PublicKey.Subkey? {
    keys.filter { $0.fingerprint != key.fingerprint }.max { $0.created < $1.created } ?? keys.first
  }

  /// Returns the key object of a signer, which is requested from gpg only once.
  func key(of signer: DefaultSigner, in session: Session) throws(EngineError) -> SignerKey {
    // Mutex.withLock loses the type of the error.
    let result = signerKeys.withLock { keys in
      Result { () throws(EngineError) in
        if let known = keys[signer.person], known.signer == signer { return known }
        let object = try tools().key(signer.person, home: session.home.path)
        try object.setSigner(signer.name, of: signer.person)
        let key = SignerKey(object, signer)
        keys[signer.person] = key
        return key
      }
    }
    return try result.get()
  }
}

/// A key object that several contexts can use concurrently: libgpgme counts its references under a lock, and changes
/// nothing else in it.
final class SignerKey: @unchecked Sendable {
  /// The signer.
  let signer: DefaultSigner
  private let key: KeyObject

  init(_ key: consuming KeyObject, _ signer: DefaultSigner) {
    self.key = key
    self.signer = signer
  }

  /// Adds the key to the signers of a context.
  ///
  /// - Throws: The error of libgpgme when memory runs out.
  func name(to context: borrowing Context) throws(EngineError) {
    let code = unsafe gpgme_signers_add(context.pointer, key.pointer)
    if code != 0 { throw EngineError(code) }
  }
}
