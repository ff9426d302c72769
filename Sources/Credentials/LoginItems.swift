internal import Keyring
package import KeyringModel
internal import Secrets

/// The internet passwords of a keyring, as programs ask for them.
package struct LoginItems {
  /// How passwords are presented, in the words of the index: an item of another kind of authentication, such as a token,
  /// is no password.
  private static let passwordTypes: Set<String> = [
    "", "default", "http-basic", "http-digest", "html-form", "ntlm", "msn", "dpa", "rpa",
  ]

  let keyring: Keyring

  /// What a search has found.
  struct Found {
    /// The items in the order of creation.
    let records: [ItemRecord]
    /// Whether lines of the index that might be another one are damaged.
    let isIncomplete: Bool

    /// The items.
    ///
    /// - Throws: `damagedIndex` when there is none, and a damaged line might be it: that is not the same as nothing.
    func settled() throws(CredentialError) -> [ItemRecord] {
      if records.isEmpty, isIncomplete { throw .damagedIndex }
      return records
    }
  }

  /// The items of a place.
  ///
  /// - Parameters:
  ///   - endpoint: The place.
  ///   - account: The account; nil for any.
  ///   - isWanted: What else has to hold.
  func find(
    at endpoint: Endpoint, account: [UInt8]?, where isWanted: (ItemRecord) -> Bool
  ) throws(KeyringError) -> Found {
    let exact = try find(at: endpoint, account, ignoringCase: false, isWanted)
    // A host has no case (RFC 4343), but what a person typed has one. Looking for it takes longer, so it comes last.
    return exact.records.isEmpty ? try find(at: endpoint, account, ignoringCase: true, isWanted) : exact
  }

  private func find(
    at endpoint: Endpoint, _ account: [UInt8]?, ignoringCase: Bool, _ isWanted: (ItemRecord) -> Bool
  ) throws(KeyringError) -> Found {
    let server = AttributeValue(text: endpoint.host.host)
    var predicates = [Predicate.equal(.server, server, ignoresCase: ignoringCase)]
    if let account { predicates.append(.equal(.account, AttributeValue(text: account))) }
    let matches = try keyring.find(Query(itemClass: .internetPassword, predicates: predicates))
    return Found(
      records: matches.items.filter { endpoint.isServed(by: $0) && isWanted($0) },
      isIncomplete: !matches.problems.isEmpty)
  }

  /// Whether an item is a password that a person could type.
  package static func isPassword(_ record: ItemRecord) -> Bool {
    passwordTypes.contains(type(of: record))
  }

  /// The kind of authentication of an item, in the words of the index.
  static func type(of record: ItemRecord) -> String {
    String(decoding: record.attributes[.authenticationType]?.contentBytes ?? [], as: UTF8.self)
  }

  /// When a password ends, in seconds since 1970; nil when it does not say so.
  static func expiry(of record: ItemRecord) -> Int64? {
    record.attributes[.passwordExpiry]?.contentBytes.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  /// Decrypts an item.
  ///
  /// What the index says of server, port, protocol, path and account has to hold in the item itself: the index is a
  /// hint, and a password must not go to a host that only the index names (threat T10).
  func secret(of record: ItemRecord) throws(KeyringError) -> SecretSlice {
    let names: [AttributeName] = [.server, .port, .protocol, .path, .account, .authenticationType]
    let predicates = names.map { name in
      Predicate.equal(name, record.attributes[name] ?? (name == .port ? .integer(0) : .string("")))
    }
    let query = Query(itemClass: .internetPassword, predicates: predicates)
    return SecretSlice(try keyring.secret(for: record, matching: query))
  }
}

extension Sequence<ItemRecord> {
  /// Refuses to choose between items of several groups. Programs do not say which group they mean, and whoever may write
  /// to one group could else decide what is read from another, or stored for its members.
  ///
  /// - Parameter isSame: Returns true for two items that a program cannot tell apart.
  /// - Throws: `ambiguous` with the items that are meant equally well.
  func requireOneGroup(
    _ isSame: (ItemRecord, ItemRecord) -> Bool = { _, _ in true }
  ) throws(CredentialError) {
    for record in self {
      let rivals = filter { isSame($0, record) }
      if Set(rivals.map(\.group)).count > 1 { throw .ambiguous(rivals.map(\.reference)) }
    }
  }

  /// Refuses to choose between items of several groups with the same account.
  ///
  /// - Throws: `ambiguous`.
  func requireOneGroupForEachAccount() throws(CredentialError) {
    try requireOneGroup { $0.attributes[.account]?.contentBytes == $1.attributes[.account]?.contentBytes }
  }
}

extension AttributeName {
  /// When a password ends, in seconds since 1970; a custom attribute.
  static let passwordExpiry: AttributeName = "passwordExpiry"
}
