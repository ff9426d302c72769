internal import CGPGME
internal import FileSystem
package import KeyringModel
package import Secrets
internal import Synchronization

// A passphrase prompt proves that a user is present. The agent caches passphrases, so it must forget them first.

extension Engine {
  package func openWithPrompt(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes {
    // A process that must not prompt must not clear the passphrases of others.
    if case .never = interaction { throw .noPromptPossible }
    let recipients: [KeyID]
    do {
      recipients = try unsafe ciphertext.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
        try unsafe self.recipients(of: bytes)
      }
    } catch {
      throw .message(error)
    }
    // Fails before the lock is taken if no key of this user can decrypt the message.
    try withAgent { session throws(EngineError) in
      _ = try keysOfAgent(for: recipients, session)
    }
    // Without a lock one passphrase could serve two processes that clear the cache and then prompt.
    let turn = try presenceTurn()
    defer { withExtendedLifetime(turn) {} }
    try withAgent { session throws(EngineError) in
      // Clears all cached passphrases: the agent tries the last passphrase for every key, because the subkeys of one
      // person usually have the same one.
      for key in try keysOfAgent(for: recipients, session) where key.isCached {
        try connection(session).forgetPassphrase(of: key.keygrip)
      }
    }
    return try open(ciphertext, limit: limit)
  }

  /// Returns all keys of the agent, after checking that the keys that can decrypt a message need a passphrase.
  private func keysOfAgent(
    for recipients: [KeyID], _ session: Session
  ) throws(EngineError) -> [AgentKey] {
    let table = session.home.table
    let people = table.keys.keys.filter { person in recipients.contains { table.claims($0, by: person) } }
    let keys = try connection(session).keys()
    var isMine = false
    for person in people.sorted() {
      let own = try keygrips(of: person, in: session).compactMap { key in
        keys.first { $0.keygrip == key.grip }
      }
      guard !own.isEmpty else { continue }
      isMine = true
      try Self.checkPassphrase(own, of: person)
    }
    guard isMine else { throw .notARecipient(recipients: recipients) }
    return keys
  }

  /// Returns true if the agent has a secret key that can decrypt a message. False also if it does not tell, because the
  /// socket is restricted.
  ///
  /// - Throws: `agentUnreachable` if the agent does not answer: then gpg may not have got an answer, either.
  func agentHasKey(for recipients: [KeyID]) throws(EngineError) -> Bool {
    let session = try session()
    let keys: [AgentKey]
    do throws(EngineError) {
      keys = try connection(session).keys()
    } catch .restrictedAgent {
      return false
    }
    for (person, key) in session.home.table.keys {
      let wanted = key.subkeys.filter { recipients.contains($0.keyID) && $0.canEncrypt }.map(\.fingerprint)
      guard !wanted.isEmpty else { continue }
      let own = try keygrips(of: person, in: session).filter { wanted.contains($0.subkey) }
      if own.contains(where: { part in keys.contains { $0.keygrip == part.grip } }) { return true }
    }
    return false
  }

  /// The time to wait for another prompt, in seconds. It is longer than a passphrase dialog usually stays open.
  private static let patience = 600.0

  /// Waits for the exclusive right to clear the passphrases of the agent. The right lasts as long as the lock exists.
  ///
  /// - Throws: `unsafeEngine` when the lock file cannot be opened; `noPromptPossible` when another prompt stays open.
  private func presenceTurn() throws(EngineError) -> HomeLock {
    while true {
      let lock = try HomeLock(path: locations.runtimeBase + "/presence.lock")
      guard lock.take(.exclusive, within: Self.patience) else { throw .noPromptPossible }
      // A clean-up of the folder may have removed the file. Other processes then lock another one.
      if lock.isCurrent { return lock }
    }
  }

  package func checkPassphrase(of person: Fingerprint) throws(EngineError) {
    try withAgent { session throws(EngineError) in
      let keys = try connection(session).keys()
      let own = try keygrips(of: person, in: session).compactMap { key in
        keys.first { $0.keygrip == key.grip }
      }
      guard !own.isEmpty else { throw .unusableKey(person, .noSecretKey) }
      try Self.checkPassphrase(own, of: person)
    }
  }

  package func cachedPassphrases(of user: Recipient) throws(EngineError) -> CachedPassphrases {
    try withAgent { session throws(EngineError) in
      let agentKeys = try connection(session).keys()
      let used = try usedKeys(of: user, in: session)
      var (cached, missing): (Set<Fingerprint>, Int) = ([], 0)
      for part in try keygrips(of: user.person, in: session) where used.contains(part.subkey) {
        guard let key = agentKeys.first(where: { $0.keygrip == part.grip }), key.protection == .passphrase
        else { continue }
        if key.isCached { cached.insert(part.subkey) } else { missing += 1 }
      }
      return missing == 0 ? .all : cached.isEmpty ? .none : .some(keys: cached)
    }
  }

  /// Returns the subkeys with which a user decrypts and signs.
  private func usedKeys(of user: Recipient, in session: Session) throws(EngineError) -> Set<Fingerprint> {
    guard let key = session.home.table.keys[user.person] else { throw .unusableKey(user.person, .missing) }
    let now = Self.now
    let signing: Fingerprint?
    do throws(EngineError) {
      signing = try signingKey(of: user.person, in: session) ?? key.subkey(for: .sign, at: now)?.fingerprint
    } catch {
      // Without a key that can sign here, signing needs no passphrase.
      guard case .unusableKey = error else { throw error }
      signing = nil
    }
    let decrypting =
      user.subkeys.isEmpty
      ? key.subkey(for: .encrypt, at: now).map { [$0.fingerprint] } ?? [] : user.subkeys
    return Set(decrypting + (signing.map { [$0] } ?? []))
  }

  package func forgetPassphrases() throws(EngineError) {
    try withAgent { session throws(EngineError) in
      try connection(session).forgetPassphrases()
    }
  }

  package func confirm(_ question: String) throws(EngineError) -> Bool {
    if case .never = interaction { throw .noPromptPossible }
    return try withAgent { session throws(EngineError) in
      try connection(session).confirm(question, cancellation)
    }
  }

  private static func checkPassphrase(
    _ keys: [AgentKey], of person: Fingerprint
  ) throws(EngineError) {
    if keys.contains(where: { $0.protection == .none }) { throw .unusableKey(person, .noPassphrase) }
    if keys.contains(where: { $0.protection == .elsewhere }) { throw .unusableKey(person, .onCard) }
  }

  /// Returns the keygrips of a person's keys. The first call for a person starts one process.
  private func keygrips(of person: Fingerprint, in session: Session) throws(EngineError) -> [SubkeyGrip] {
    if let known = keygrips.withLock({ $0[person] }) { return known }
    let context = try Context(program: session.program, home: session.home.path, interaction: .never)
    counter.processStarted()
    let found = try context.keygrips(of: person)
    // Without the keys of the home, or if gpg was killed, subkeys of the table are missing.
    let listed = Set(found.map(\.subkey))
    guard session.home.table.keys[person]?.subkeys.allSatisfy({ listed.contains($0.fingerprint) }) != false
    else {
      throw .incomplete(detail: "it did not list all subkeys of \(person.text)")
    }
    keygrips.withLock { $0[person] = found }
    return found
  }
}

extension Context {
  /// Returns the keygrips of a key and its subkeys. Starts one process.
  ///
  /// - Parameter person: The primary fingerprint.
  /// - Throws: The error of libgpgme.
  fileprivate func keygrips(of person: Fingerprint) throws(EngineError) -> [SubkeyGrip] {
    var grips: [SubkeyGrip] = []
    try unsafe forEachKey(matching: person.text, mode: GPGME_KEYLIST_MODE_WITH_KEYGRIP) { key in
      var next = unsafe key.pointee.subkeys
      while let subkey = unsafe next {
        if let text = unsafe subkey.pointee.keygrip, let grip = unsafe Keygrip(String(cString: text)),
          let name = unsafe subkey.pointee.fpr, let subkey = unsafe Fingerprint(String(cString: name))
        {
          grips.append(SubkeyGrip(subkey: subkey, grip: grip))
        }
        unsafe next = subkey.pointee.next
      }
    }
    return grips
  }
}

/// A primary key or subkey, and the name that gpg-agent has for it.
struct SubkeyGrip: Sendable {
  let subkey: Fingerprint
  let grip: Keygrip
}
