package import Keyring
package import KeyringModel
internal import Secrets

/// Answers git's questions for credentials out of a keyring; gitcredentials(7).
///
/// A credential is an internet password: server, port and protocol are those of the message, the account is its user
/// name. A refresh token is an item beside it, as is what goes into the header `Authorization` itself (``TokenItems``).
/// What docker has stored is docker's.
package struct GitCredentialHelper {
  /// The number of attempts if others change the same items.
  private static let attempts = 5

  private let keyring: Keyring
  private let items: LoginItems
  private let recent: RecentLogins
  private let now: Timestamp

  /// A helper over a keyring.
  ///
  /// - Parameters:
  ///   - keyring: Where credentials are.
  ///   - recent: Which account was used last.
  ///   - now: The current time: a password that has ended is not handed out.
  package init(_ keyring: Keyring, recent: RecentLogins, now: Timestamp) {
    self.keyring = keyring
    items = LoginItems(keyring: keyring)
    self.recent = recent
    self.now = now
  }

  // MARK: get

  /// Looks for a credential.
  ///
  /// - Parameter question: What git knows. Without protocol or host there is no answer.
  /// - Returns: What git does not know yet; nil when there is nothing. Of several accounts the one used last. A
  ///   password
  ///   that has ended is not handed out, but what a new one can be had with is.
  /// - Throws: `malformed` for a host that is none; `ambiguous` for an account that several groups have;
  ///   `damagedIndex`,
  ///   `KeyringError`.
  package func get(_ question: GitCredential) throws -> (
    answer: GitCredential, ItemReference
  )? {
    guard let endpoint = try endpoint(of: question) else { return nil }
    let takesTokens = question.capabilities.contains(GitCredential.authenticationCapability)
    let (found, rivals, all) = try findAll(at: endpoint, question) { record in
      LoginItems.isPassword(record) || (takesTokens && TokenItems.scheme(of: record) != nil)
    }
    let usable = found.filter { !isExpired($0) }
    // A password that has ended is no rival of one that has not.
    let usableRivals = rivals.filter { usable.isEmpty || !isExpired($0) }
    try usableRivals.requireOneGroupForEachAccount()
    try recent.requireOneGroup(of: usableRivals, at: endpoint)
    guard let record = recent.latest(of: usable.isEmpty ? found : usable, at: endpoint) else { return nil }
    var answer = GitCredential()
    answer.username = record.attributes[.account]?.contentBytes
    if let token = refreshToken(beside: record, among: all) { answer.refreshToken = try secret(of: token) }
    if usable.isEmpty { return answer.refreshToken == nil ? nil : (answer, record.reference) }
    answer.passwordExpiry = LoginItems.expiry(of: record)
    if let scheme = TokenItems.scheme(of: record) {
      answer.capabilities = [GitCredential.authenticationCapability]
      answer.authenticationType = scheme
      answer.credential = try secret(of: record)
    } else {
      answer.password = try secret(of: record)
    }
    return (answer, record.reference)
  }

  // MARK: store

  /// Stores a credential that has worked, or that somebody wants to keep.
  ///
  /// - Parameter credential: Protocol, host, user name and password, or a scheme and what follows it. What is not
  ///   complete, has ended, or is not to be kept, is passed over, as git's own helpers do.
  /// - Returns: Whether anything in the store has changed: the same once more is no change.
  /// - Throws: `malformed`, `ambiguous`, `KeyringError`, `contended`.
  package func store(_ credential: GitCredential) throws -> Bool {
    guard let endpoint = try endpoint(of: credential), !credential.isEphemeral,
      let wanted = WantedLogin(credential, endpoint), credential.passwordExpiry.map(isPast) != true
    else { return false }
    for _ in 0..<Self.attempts {
      do {
        let (record, isChanged) = try keep(wanted, credential, endpoint)
        recent.remember(record.id, at: endpoint)
        return isChanged
      } catch let error as KeyringError where error.isAboutConcurrentChange {
        // Somebody stored, erased or moved it in the meantime: look again.
        continue
      }
    }
    throw CredentialError.contended
  }

  private func keep(
    _ wanted: WantedLogin, _ credential: GitCredential, _ endpoint: Endpoint
  ) throws -> (ItemRecord, isChanged: Bool) {
    let (known, all) = try find(at: endpoint, credential) { wanted.isSameKind($0) }
    // The one with exactly this name; else the one that this machine would have handed out.
    let exact = known.first { $0.primaryKey == wanted.key(group: $0.group) }
    var record = exact ?? known.first { $0.attributes[.path] == nil }
    var isSame = false
    for candidate in [exact].compactMap({ $0 }) + known where try holds(candidate, wanted.secret) == true {
      (record, isSame) = (candidate, true)
      break
    }
    let token = record.flatMap { refreshToken(beside: $0, among: all) }
    // An older git tells neither when a password ends nor its refresh token: with the same password, what is not said
    // stays as it is.
    let setsExpiry = record?.attributes[.passwordExpiry] != wanted.expiry && (wanted.expiry != nil || !isSame)
    var newToken = credential.refreshToken
    if let token, let new = newToken, try holds(token, new) == true { newToken = nil }
    if let record, isSame, !setsExpiry, newToken == nil { return (record, false) }
    let change = LoginChange(
      wanted: wanted, record: record, replacesSecret: !isSame, setsExpiry: setsExpiry, token: token,
      newToken: newToken, removesToken: token != nil && credential.refreshToken == nil && !isSame)
    return (try change.apply(to: keyring), true)
  }

  // MARK: erase

  /// Erases credentials that were rejected.
  ///
  /// - Parameter credential: Every item that has all that it names is erased, but none with another password: that was
  ///   changed in the meantime. Without protocol or host nothing is.
  /// - Returns: How many were erased.
  /// - Throws: `malformed`, `ambiguous`, `damagedIndex`, `KeyringError`, `contended`. An item that cannot be
  ///   decrypted stays, and is told
  ///   after the others are gone.
  package func erase(_ credential: GitCredential) throws -> Int {
    guard let endpoint = try endpoint(of: credential) else { return 0 }
    for _ in 0..<Self.attempts {
      let (doomed, unreadable) = try rejected(credential, endpoint)
      do {
        if !doomed.isEmpty, try !keyring.delete(doomed, ifUnchanged: true) { continue }
      } catch KeyringError.itemNotFound {
        // Another process erased one of them: look what is left.
        continue
      }
      if let unreadable { throw unreadable }
      return doomed.count
    }
    throw CredentialError.contended
  }

  /// Returns the items that a rejection is about, with their tokens, and the reason why one of them cannot be
  /// compared.
  private func rejected(
    _ credential: GitCredential, _ endpoint: Endpoint
  ) throws -> ([ItemRecord], (any Error)?) {
    var doomed: [ItemRecord] = []
    var unreadable: (any Error)?
    let (found, all) = try find(at: endpoint, credential) {
      LoginItems.isPassword($0) || TokenItems.scheme(of: $0) != nil
    }
    for record in found {
      let rejected = LoginItems.isPassword(record) ? credential.password : credential.credential
      // A rejection of one kind says nothing of the other.
      if rejected == nil, credential.password != nil || credential.credential != nil { continue }
      do {
        if let rejected, try !secret(of: record).isEqual(to: rejected) { continue }
        doomed.append(record)
        if let token = refreshToken(beside: record, among: all) { doomed.append(token) }
      } catch {
        unreadable = error
      }
    }
    return (doomed, unreadable)
  }

  // MARK: Finding

  private func endpoint(of message: GitCredential) throws -> Endpoint? {
    guard let scheme = message.scheme, let host = message.host, !scheme.isEmpty, !host.isEmpty else {
      return nil
    }
    guard let host = HostName(authority: host) else { throw CredentialError.malformed("`host` is no host") }
    return Endpoint(scheme: String(decoding: scheme, as: UTF8.self), host: host, path: message.path)
  }

  private func find(
    at endpoint: Endpoint, _ message: GitCredential, where isWanted: (ItemRecord) -> Bool
  ) throws -> (records: [ItemRecord], all: [ItemRecord]) {
    let (found, rivals, all) = try findAll(at: endpoint, message, where: isWanted)
    try rivals.requireOneGroupForEachAccount()
    return (found, all)
  }

  private func findAll(
    at endpoint: Endpoint, _ message: GitCredential, where isWanted: (ItemRecord) -> Bool
  ) throws -> (records: [ItemRecord], rivals: [ItemRecord], all: [ItemRecord]) {
    let found = try items.find(at: endpoint, account: message.username) { record in
      isWanted(record) && !DockerCredentialHelper.isEntry(record)
    }
    return (try found.settled(), found.rivals, found.all)
  }

  private func secret(of record: ItemRecord) throws -> SecretSlice {
    try items.secret(of: record)
  }

  /// Returns true if an item has a secret; nil if it cannot be decrypted, which is reported when that item is
  /// requested.
  private func holds(_ record: ItemRecord, _ wanted: SecretSlice) throws -> Bool? {
    do {
      return try secret(of: record).isEqual(to: wanted)
    } catch KeyringError.itemDamaged, KeyringError.bindingMismatch {
      return nil
    }
  }

  /// Returns the item with the refresh token of a login: the same name, another kind of authentication.
  ///
  /// - Parameter items: The items of the same place, from the search that found the login.
  private func refreshToken(beside record: ItemRecord, among items: [ItemRecord]) -> ItemRecord? {
    let key = PrimaryKey(
      itemClass: record.itemClass, attributes: TokenItems.refreshToken(beside: record), group: record.group)
    return items.first { $0.primaryKey == key }
  }

  private func isExpired(_ record: ItemRecord) -> Bool { LoginItems.expiry(of: record).map(isPast) == true }

  private func isPast(_ seconds: Int64) -> Bool { seconds < now.microseconds / 1_000_000 }
}
