package import Keyring
package import KeyringModel
internal import Secrets

/// Answers git's credential requests from a keyring; see gitcredentials(7).
///
/// A credential is an internet password. Server, port and protocol are those of the message, and the account is its
/// user name. Refresh tokens and the credentials for the header `Authorization` are separate items (``TokenItems``).
/// The passphrase of a client certificate is a generic password (``ClientCertificates``). Items that docker has
/// stored are ignored.
package struct GitCredentialHelper {
  /// The number of attempts if other processes change the same items.
  private static let attempts = 5

  private let keyring: Keyring
  private let items: LoginItems
  private let recent: RecentLogins
  private let now: Timestamp

  /// Makes a helper for a keyring.
  ///
  /// - Parameters:
  ///   - keyring: The keyring with the credentials.
  ///   - recent: The accounts that were used last.
  ///   - now: The current time. An expired password is not returned.
  package init(_ keyring: Keyring, recent: RecentLogins, now: Timestamp) {
    self.keyring = keyring
    items = LoginItems(keyring: keyring)
    self.recent = recent
    self.now = now
  }

  // MARK: get

  /// Finds a credential.
  ///
  /// - Parameter question: The request of git. Without protocol or host there is no answer.
  /// - Returns: The missing parts of the credential; nil if there is none. If there are several accounts, the last one
  ///   used is returned. An expired password is not returned, but its refresh token is.
  /// - Throws: `malformed` for an invalid host; `ambiguous` for an account that several groups have; `damagedIndex`,
  ///   `KeyringError`.
  package func get(_ question: GitCredential) throws -> (
    answer: GitCredential, ItemReference
  )? {
    if let path = ClientCertificates.path(in: question) { return try ClientCertificates(keyring).get(path) }
    guard let endpoint = try endpoint(of: question) else { return nil }
    let takesTokens = question.capabilities.contains(GitCredential.authenticationCapability)
    let (found, rivals, all) = try findAll(at: endpoint, question) { record in
      LoginItems.isPassword(record) || (takesTokens && TokenItems.scheme(of: record) != nil)
    }
    let usable = found.filter { !isExpired($0) }
    // An expired password does not make a valid one ambiguous.
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

  /// Stores a credential that the server has accepted, or that the user wants to keep.
  ///
  /// - Parameter credential: Protocol, host, user name and password, or an authentication scheme and its value. A
  ///   credential that is incomplete, expired or ephemeral is ignored, as in git's own helpers.
  /// - Returns: True if anything in the store has changed. Storing the same credential again is not a change.
  /// - Throws: `malformed`, `ambiguous`, `KeyringError.shared` if other people would be able to read the password,
  ///   other `KeyringError`s, `contended`.
  package func store(_ credential: GitCredential) throws -> Bool {
    if let path = ClientCertificates.path(in: credential) {
      guard !credential.isEphemeral, let passphrase = credential.password else { return false }
      return try ClientCertificates(keyring).store(path, passphrase)
    }
    guard let endpoint = try endpoint(of: credential), !credential.isEphemeral,
      let wanted = NewLogin(credential, endpoint), credential.passwordExpiry.map(isPast) != true
    else { return false }
    for _ in 0..<Self.attempts {
      do {
        let (record, isChanged) = try keep(wanted, credential, endpoint)
        recent.remember(record, at: endpoint)
        keyring.remember(used: record)
        return isChanged
      } catch let error as KeyringError where error.isAboutConcurrentChange {
        // Another process has stored, erased or moved the item concurrently. Try again.
        continue
      }
    }
    throw CredentialError.contended
  }

  private func keep(
    _ wanted: NewLogin, _ credential: GitCredential, _ endpoint: Endpoint
  ) throws -> (ItemRecord, isChanged: Bool) {
    let (known, all) = try find(at: endpoint, credential) { wanted.isSameKind($0) }
    try known.requireOneGroup()
    if let first = known.first { try keyring.requireMembership(of: first) }
    // Prefer the item with exactly this primary key.
    let exact = known.first { $0.primaryKey == wanted.key(group: $0.group) }
    var record = try exact ?? inexact(known)
    var isSame = false
    for candidate in [exact].compactMap({ $0 }) + known where try holds(candidate, wanted.secret) == true {
      (record, isSame) = (candidate, true)
      break
    }
    if let found = record, !isSame {
      try keyring.requireReplaceable(found)
    } else if record == nil {
      try keyring.requireNewName(wanted.item)
    }
    let token = record.flatMap { refreshToken(beside: $0, among: all) }
    // An older git sends neither the expiry of a password nor its refresh token. If the password is the same, missing
    // values stay unchanged.
    let setsExpiry = record?.attributes[.passwordExpiry] != wanted.expiry && (wanted.expiry != nil || !isSame)
    var newToken = credential.refreshToken
    if let token, let new = newToken, try holds(token, new) == true { newToken = nil }
    if let record, isSame, !setsExpiry, newToken == nil { return (record, false) }
    let change = LoginChange(
      wanted: wanted, record: record, replacesSecret: !isSame, setsExpiry: setsExpiry, token: token,
      newToken: newToken,
      removesToken: try token.map { try credential.refreshToken == nil && !isSame && isRemovable($0) }
        ?? false)
    return (try change.apply(to: keyring), true)
  }

  /// Returns true if no other person uses a refresh token. A new password does not prove that it is of no use to them.
  private func isRemovable(_ token: ItemRecord) throws -> Bool {
    do {
      try keyring.requireRemovable([token])
      return true
    } catch KeyringError.shared {
      return false
    }
  }

  /// Returns the item that gets the secret if none has exactly the primary key of the login; nil for a new item.
  ///
  /// In `default`, it is the first one without a path. In another group, a new item would have other readers.
  ///
  /// - Throws: `ambiguous` for several items of another group.
  private func inexact(_ known: [ItemRecord]) throws -> ItemRecord? {
    guard let first = known.first, first.group != GroupName.default else {
      return known.first { $0.attributes[.path] == nil }
    }
    guard known.count == 1 else { throw CredentialError.ambiguous(known) }
    return first
  }

  // MARK: erase

  /// Erases credentials that were rejected.
  ///
  /// - Parameter credential: Every item that matches all of its values is erased, unless other people can read it. An
  ///   item with another password is kept, because its password was changed since. Without protocol or host nothing is
  ///   erased.
  /// - Returns: The number of items that were erased.
  /// - Throws: `malformed`, `ambiguous`, `damagedIndex`, `KeyringError`, `contended`. An item that cannot be decrypted
  ///   or that other people can read is kept, and its error is thrown after the others are erased.
  package func erase(_ credential: GitCredential) throws -> Int {
    if let path = ClientCertificates.path(in: credential) {
      return try ClientCertificates(keyring).erase(path, credential.password) ? 1 : 0
    }
    guard let endpoint = try endpoint(of: credential) else { return 0 }
    for _ in 0..<Self.attempts {
      let (doomed, kept) = try rejected(credential, endpoint)
      do {
        if !doomed.isEmpty, try !keyring.delete(doomed, ifUnchanged: true) { continue }
      } catch KeyringError.itemNotFound {
        // Another process has erased one of them. Find the remaining ones.
        continue
      }
      if let kept { throw kept }
      return doomed.count
    }
    throw CredentialError.contended
  }

  /// Returns the items that a rejection is about, with their tokens, and the reason why one of them is kept.
  private func rejected(
    _ credential: GitCredential, _ endpoint: Endpoint
  ) throws -> ([ItemRecord], (any Error)?) {
    var doomed: [ItemRecord] = []
    var kept: (any Error)?
    let (found, all) = try find(at: endpoint, credential) {
      LoginItems.isPassword($0) || TokenItems.scheme(of: $0) != nil
    }
    for record in found {
      let rejected = LoginItems.isPassword(record) ? credential.password : credential.credential
      // The rejection of a password does not affect tokens, and vice versa.
      if rejected == nil, credential.password != nil || credential.credential != nil { continue }
      do {
        try keyring.requireMembership(of: record)
        if let rejected, try !secret(of: record).isEqual(to: rejected) { continue }
        let login = [record] + [refreshToken(beside: record, among: all)].compactMap { $0 }
        try keyring.requireRemovable(login)
        doomed += login
      } catch {
        kept = error
      }
    }
    return (doomed, kept)
  }

  // MARK: Finding

  private func endpoint(of message: GitCredential) throws -> Endpoint? {
    guard let scheme = message.scheme, let host = message.host, !scheme.isEmpty, !host.isEmpty else {
      return nil
    }
    guard let host = HostName(authority: host) else { throw CredentialError.malformed("`host` is invalid") }
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

  /// Returns the item with the refresh token of a login, which differs only in its authentication type.
  private func refreshToken(beside record: ItemRecord, among items: [ItemRecord]) -> ItemRecord? {
    let key = PrimaryKey(
      itemClass: record.itemClass, attributes: TokenItems.refreshToken(beside: record), group: record.group)
    return items.first { $0.primaryKey == key }
  }

  private func isExpired(_ record: ItemRecord) -> Bool { LoginItems.expiry(of: record).map(isPast) == true }

  private func isPast(_ seconds: Int64) -> Bool { seconds < now.microseconds / 1_000_000 }
}
