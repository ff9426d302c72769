package import Keyring
package import KeyringModel
package import Secrets

/// Finds the internet passwords of a keyring for other programs.
package struct LoginItems {
  /// The authentication types of passwords in the index. An item of another type, such as a token, is not a
  /// password.
  private static let passwordTypes: Set<String> = [
    "", "default", "http-basic", "http-digest", "html-form", "ntlm", "msn", "dpa", "rpa",
  ]

  let keyring: Keyring

  /// Makes a search in a keyring.
  package init(keyring: Keyring) { self.keyring = keyring }

  /// The result of a search.
  struct Found {
    /// The items in the order of creation.
    let records: [ItemRecord]
    /// The items. If the keyring has several groups, this includes items whose server has another spelling, because a
    /// program may mean them.
    let rivals: [ItemRecord]
    /// All items of the place, including tokens and the items of other programs.
    let all: [ItemRecord]
    /// A Boolean value that indicates whether damaged lines of the index might be another match.
    let isIncomplete: Bool

    /// Returns the items.
    ///
    /// - Throws: `damagedIndex` if there are none, but a damaged line might be a match.
    func settled() throws -> [ItemRecord] {
      if records.isEmpty, isIncomplete { throw CredentialError.damagedIndex }
      return records
    }
  }

  /// Finds the items of an endpoint.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint.
  ///   - account: The account; nil for any.
  ///   - isWanted: A further condition.
  func find(
    at endpoint: Endpoint, account: [UInt8]?, where isWanted: (ItemRecord) -> Bool
  ) throws(KeyringError) -> Found {
    let exact = try find(at: endpoint, account, anySpelling: false, isWanted)
    // Host names are case-insensitive (RFC 4343), but the user may have typed upper-case letters, or a dot at the end. This
    // search takes longer, so it comes last.
    if !exact.records.isEmpty, keyring.policy.groups.count == 1 { return exact }
    let all = try find(at: endpoint, account, anySpelling: true, isWanted)
    if exact.records.isEmpty { return all }
    return Found(
      records: exact.records, rivals: all.records, all: all.all, isIncomplete: exact.isIncomplete)
  }

  private func find(
    at endpoint: Endpoint, _ account: [UInt8]?, anySpelling: Bool, _ isWanted: (ItemRecord) -> Bool
  ) throws(KeyringError) -> Found {
    let server = AttributeValue(text: endpoint.host.host)
    let comparison: Predicate.Comparison = anySpelling ? .prefix(server) : .equal(server)
    var predicates = [
      Predicate(subject: .attribute(.server), comparison: comparison, ignoresCase: anySpelling)
    ]
    if let account { predicates.append(.equal(.account, AttributeValue(text: account))) }
    let matches = try keyring.find(Query(itemClass: .internetPassword, predicates: predicates))
    let all = matches.items.filter { endpoint.isServed(by: $0) }
    let records = all.filter(isWanted)
    return Found(records: records, rivals: records, all: all, isIncomplete: !matches.problems.isEmpty)
  }

  /// Returns true if an item is a password that a user could type.
  package static func isPassword(_ record: ItemRecord) -> Bool {
    passwordTypes.contains(type(of: record))
  }

  /// Returns the authentication type of an item, as stored in the index.
  static func type(of record: ItemRecord) -> String {
    String(decoding: record.attributes[.authenticationType]?.contentBytes ?? [], as: UTF8.self)
  }

  /// Returns the time when a password expires, in seconds since 1970; nil if it has none.
  static func expiry(of record: ItemRecord) -> Int64? {
    record.attributes[.passwordExpiry]?.contentBytes.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  /// Decrypts an item: an internet password, or a generic password with the attribute `url`.
  ///
  /// Server, port, protocol, path, account and URL are checked against the verified record. The index is only a hint, and
  /// a password must not be sent to a host that only the index names (threat T10).
  package func secret(of record: ItemRecord) throws(KeyringError) -> SecretSlice {
    let isGeneric = record.itemClass == .genericPassword
    let names: [AttributeName] =
      isGeneric ? [.service, .account] : [.server, .port, .protocol, .path, .account, .authenticationType]
    var predicates = names.map { name in
      Predicate.equal(name, record.attributes[name] ?? (name == .port ? .integer(0) : .string("")))
    }
    if let url = record.attributes[.url] { predicates.append(.equal(.url, url)) }
    let query = Query(itemClass: record.itemClass, predicates: predicates)
    return SecretSlice(try keyring.secret(for: record, matching: query))
  }
}

extension Sequence<ItemRecord> {
  /// Refuses to choose between items of several groups. Programs name no group. A member of one group could otherwise
  /// choose what is read from another group, or to whom a new secret is encrypted.
  ///
  /// - Throws: `ambiguous` with the items.
  func requireOneGroup() throws {
    let items = Array(self)
    guard let first = items.first, items.contains(where: { $0.group != first.group }) else { return }
    throw CredentialError.ambiguous(items)
  }

  /// Refuses to choose between items of several groups with the same account.
  ///
  /// - Throws: `ambiguous` with the items of one account.
  func requireOneGroupForEachAccount() throws {
    let accounts = Dictionary(grouping: self) { $0.attributes[.account]?.contentBytes ?? [] }
    for items in accounts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }).map(\.value) {
      try items.requireOneGroup()
    }
  }
}

extension AttributeName {
  /// The time when a password expires, in seconds since 1970; a custom attribute.
  static let passwordExpiry: AttributeName = "passwordExpiry"
}
