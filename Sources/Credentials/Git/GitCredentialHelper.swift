package import Keyring
package import KeyringModel
internal import Secrets

/// Answers git's questions for credentials out of a keyring; gitcredentials(7).
///
/// A credential is an internet password: server, port and protocol are those of the message, the account is its user
/// name. A refresh token is an item beside it (`authenticationType` is `oauth-refresh-token`), as is what goes into
/// the header `Authorization` itself (`authenticationType` is its scheme).
package struct GitCredentialHelper {
  static let refreshTokenType = "oauth-refresh-token"
  /// How often a change is worked out anew when others change the same items.
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
  /// - Returns: What git does not know yet; nil when there is nothing. Of several accounts the one used last.
  /// - Throws: `malformed` for a host that is none; `keyring`.
  package func get(_ question: GitCredential) throws(CredentialError) -> (
    answer: GitCredential, ItemReference
  )? {
    guard let endpoint = try endpoint(of: question) else { return nil }
    let takesTokens = question.capabilities.contains(GitCredential.authenticationCapability)
    let found = try find(at: endpoint, question) { record in
      (LoginItems.isPassword(record) || (takesTokens && Self.isToken(record))) && !isExpired(record)
    }
    guard let record = recent.latest(of: found, at: endpoint) else { return nil }
    let secret = try secret(of: record)
    var answer = GitCredential()
    answer.username = record.attributes[.account]?.contentBytes
    answer.passwordExpiry = Self.expiry(of: record)
    if let scheme = record.attributes[.tokenScheme]?.contentBytes, !LoginItems.isPassword(record) {
      answer.capabilities = [GitCredential.authenticationCapability]
      answer.authenticationType = scheme
      answer.credential = secret
    } else {
      answer.password = secret
      if let token = try refreshToken(beside: record) { answer.refreshToken = try self.secret(of: token) }
    }
    return (answer, record.reference)
  }

  // MARK: store

  /// Stores a credential that has worked, or that somebody wants to keep.
  ///
  /// - Parameter credential: Protocol, host, user name and password, or a scheme and what follows it. What is not
  ///   complete, has ended, or is not to be kept, is passed over, as git's own helpers do.
  /// - Returns: Whether anything in the store has changed: the same once more is no change.
  /// - Throws: `malformed`, `keyring`, `contended`.
  package func store(_ credential: GitCredential) throws(CredentialError) -> Bool {
    guard let endpoint = try endpoint(of: credential), !credential.isEphemeral,
      let wanted = WantedLogin(credential, endpoint), credential.passwordExpiry.map(isPast) != true
    else { return false }
    for _ in 0..<Self.attempts {
      do throws(CredentialError) {
        let (record, isChanged) = try keep(wanted, credential, endpoint)
        recent.remember(record.id, at: endpoint)
        return isChanged
      } catch {
        // Somebody stored or erased it in the meantime: look again.
        switch error {
        case .keyring(.itemExists), .keyring(.itemNotFound): continue
        default: throw error
        }
      }
    }
    throw .contended
  }

  private func keep(
    _ wanted: WantedLogin, _ credential: GitCredential, _ endpoint: Endpoint
  ) throws(CredentialError) -> (ItemRecord, isChanged: Bool) {
    let known = try find(at: endpoint, credential) { wanted.isSameKind($0) }
    // The one with exactly this name; else the one that this machine would have handed out.
    let exact = known.first { $0.primaryKey == wanted.key(group: $0.group) }
    var record = exact ?? known.first { $0.attributes[.path] == nil }
    var isSame = false
    for candidate in [exact].compactMap({ $0 }) + known {
      if try secret(of: candidate).isEqual(to: wanted.secret) {
        (record, isSame) = (candidate, true)
        break
      }
    }
    let token = try record.flatMap { record throws(CredentialError) in try refreshToken(beside: record) }
    let isTokenSame: Bool
    switch (token, credential.refreshToken) {
    case (nil, nil): isTokenSame = true
    case (let token?, let new?): isTokenSame = try secret(of: token).isEqual(to: new)
    case (nil, _?), (_?, nil): isTokenSame = false
    }
    if let record, isSame, isTokenSame, record.attributes[.passwordExpiry] == wanted.expiry {
      return (record, false)
    }
    let change = LoginChange(
      wanted: wanted, record: record, replacesSecret: !isSame, token: token,
      newToken: isTokenSame ? nil : credential.refreshToken,
      removesToken: token != nil && credential.refreshToken == nil)
    return (try asCredential(change.apply(to: keyring)), true)
  }

  // MARK: erase

  /// Erases credentials that were rejected.
  ///
  /// - Parameter credential: Every item that has all that it names is erased, but none with another password: that was
  ///   changed in the meantime. Without protocol or host nothing is.
  /// - Returns: How many were erased.
  /// - Throws: `malformed`, `keyring`.
  package func erase(_ credential: GitCredential) throws(CredentialError) -> Int {
    guard let endpoint = try endpoint(of: credential) else { return 0 }
    let found = try find(at: endpoint, credential) { LoginItems.isPassword($0) || Self.isToken($0) }
    var doomed: [ItemRecord] = []
    for record in found {
      let rejected = LoginItems.isPassword(record) ? credential.password : credential.credential
      // A rejection of one kind says nothing of the other.
      if rejected == nil, credential.password != nil || credential.credential != nil { continue }
      if let rejected, try !secret(of: record).isEqual(to: rejected) { continue }
      doomed.append(record)
      if LoginItems.isPassword(record), let token = try refreshToken(beside: record) { doomed.append(token) }
    }
    guard !doomed.isEmpty else { return 0 }
    do {
      try keyring.delete(doomed)
    } catch .itemNotFound {
      // Another process erased one of them first; what is left is erased at the next rejection.
      return 0
    } catch {
      throw .keyring(error)
    }
    return doomed.count
  }

  // MARK: Finding

  private func endpoint(of message: GitCredential) throws(CredentialError) -> Endpoint? {
    guard let scheme = message.scheme, let host = message.host, !scheme.isEmpty, !host.isEmpty else {
      return nil
    }
    guard let host = HostName(authority: host) else { throw .malformed("`host` is no host") }
    return Endpoint(scheme: String(decoding: scheme, as: UTF8.self), host: host, path: message.path)
  }

  private func find(
    at endpoint: Endpoint, _ message: GitCredential, where isWanted: (ItemRecord) -> Bool
  ) throws(CredentialError) -> [ItemRecord] {
    try asCredential(items.find(at: endpoint, account: message.username, where: isWanted))
  }

  private func secret(of record: ItemRecord) throws(CredentialError) -> SecretSlice {
    try asCredential(items.secret(of: record))
  }

  /// The item with the refresh token of a password: the same name, another kind of authentication.
  private func refreshToken(beside record: ItemRecord) throws(CredentialError) -> ItemRecord? {
    guard LoginItems.isPassword(record) else { return nil }
    let key = PrimaryKey(
      itemClass: record.itemClass, attributes: record.attributes.asRefreshToken, group: record.group)
    return try asCredential(keyring.find(.item(with: key))).items.first
  }

  private static func isToken(_ record: ItemRecord) -> Bool {
    !LoginItems.isPassword(record) && record.attributes[.tokenScheme] != nil
  }

  private static func expiry(of record: ItemRecord) -> Int64? {
    record.attributes[.passwordExpiry]?.contentBytes.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  private func isExpired(_ record: ItemRecord) -> Bool { Self.expiry(of: record).map(isPast) == true }

  private func isPast(_ seconds: Int64) -> Bool { seconds < now.microseconds / 1_000_000 }
}

extension AttributeName {
  /// When a password ends, in seconds since 1970; a custom attribute.
  static let passwordExpiry: AttributeName = "passwordExpiry"
  /// The scheme of the header `Authorization` that a token goes with, as git spells it; a custom attribute.
  static let tokenScheme: AttributeName = "authorizationScheme"
}

extension Attributes {
  /// The attributes of the item with the refresh token of a password.
  var asRefreshToken: Attributes {
    var attributes = self
    attributes[.authenticationType] = .string(GitCredentialHelper.refreshTokenType)
    attributes[.passwordExpiry] = nil
    return attributes
  }
}
