internal import Encoding
package import Keyring
internal import KeyringModel
package import Secrets

/// Stores docker's credentials in a keyring, as the helper for Apple's keychain does.
///
/// An entry is an internet password with the label `Docker Credentials` and the authentication type `default`. The
/// protocol is `https` unless the URL has `http`. Server, port and path are those of the URL, without a query. The
/// attribute `url` has the original form of the URL, which `list` prints. `//` in front of a host without a scheme is
/// ignored, and an IPv6 address without brackets is stored with everything that follows it up to the path.
package struct DockerCredentialHelper {
  private static let label: AttributeValue = "Docker Credentials"

  private let keyring: Keyring
  private let items: LoginItems

  /// Makes a helper for a keyring.
  package init(_ keyring: Keyring) {
    self.keyring = keyring
    items = LoginItems(keyring: keyring)
  }

  /// Finds the credential of a registry.
  ///
  /// - Parameter serverURL: The URL in any form. Without a scheme an entry for `https` is preferred to one for `http`.
  /// - Returns: One JSON object; nil if there is no credential.
  /// - Throws: `malformed` for a URL without a host; `notUTF8` for bytes that JSON cannot represent; `ambiguous` for
  ///   entries of several groups; `KeyringError`.
  package func get(_ serverURL: [UInt8]) throws -> SecretBytes? {
    guard let record = try entries(of: serverURL).first else { return nil }
    let secret = try items.secret(of: record)
    let account = SecretSlice(SecretBytes(copying: record.attributes[.account]?.contentBytes ?? []))
    let url = SecretSlice(SecretBytes(copying: serverURL))
    var object = SecretBytes(capacity: secret.count * 2 + 256)
    var separator = "{"
    for (name, value) in [("ServerURL", url), ("Username", account), ("Secret", secret)] {
      guard unsafe value.withBytes({ unsafe SecretText.isUTF8($0) }) else {
        throw CredentialError.notUTF8(record.reference)
      }
      object.append("\(separator)\"\(name)\":")
      unsafe value.withBytes { unsafe object.append(jsonString: $0) }
      separator = ","
    }
    object.append("}")
    return object
  }

  /// Stores a credential, replacing any other credential of the same registry.
  ///
  /// Docker names no group. The credential of the same account is replaced in its group. The one of another account is
  /// removed if only this user can read it. If it is in another group than `default`, it stays.
  ///
  /// - Returns: True if anything in the store has changed.
  /// - Throws: `malformed` for a URL without a host; `ambiguous` for entries of several groups; `taken`;
  ///   `KeyringError.shared` if other people would be able to read the credential, or use the one that it replaces;
  ///   other `KeyringError`s.
  package func store(_ credential: DockerCredential) throws -> Bool {
    let endpoint = try endpoints(of: credential.serverURL)[0]
    var attributes = Attributes()
    attributes[.server] = AttributeValue(text: endpoint.host.host)
    attributes[.protocol] = .string(endpoint.scheme)
    attributes[.port] = endpoint.host.port.map { .integer($0) }
    attributes[.path] = endpoint.path.map { AttributeValue(text: [UInt8(ascii: "/")] + $0) }
    attributes[.account] = AttributeValue(text: credential.username)
    attributes[.authenticationType] = "default"
    attributes[.label] = Self.label
    let url = AttributeValue(text: Endpoint.publicURL(credential.serverURL))
    attributes[.url] = url
    let hasAccount = { (record: ItemRecord) in
      record.attributes[.account]?.contentBytes == credential.username
    }
    let all = try entries(at: endpoint)
    try all.rivals.requireOneGroup()
    let known = try all.settled()
    let same = known.first(where: hasAccount)
    if let same { try keyring.requireMembership(of: same) }
    if let same, known.count == 1, same.attributes[.url] == url,
      try items.secret(of: same).isEqual(to: credential.secret)
    {
      return false
    }
    let group = same?.group ?? GroupName.default
    let untouched = Set(known.filter { $0.group != group }.map(\.id))
    let item = NewItem(itemClass: .internetPassword, attributes: attributes, group: group)
    if let same { try keyring.requireReplaceable(same) } else { try keyring.requireNewName(item) }
    try keyring.requireRemovable(known.filter { $0.group == group && $0.id != same?.id })
    do {
      try keyring.transaction { changes throws(KeyringError) in
        // If several processes store a credential for the same registry concurrently, each must replace that of the
        // previous one, whatever its account is.
        changes.dependOnSearch()
        let found = try entries(at: endpoint)
        if let other = found.rivals.first(where: { $0.group != group && !untouched.contains($0.id) }) {
          throw KeyringError.bindingMismatch(other.reference, .condition(.group))
        }
        let known = found.records.filter { $0.group == group }
        let same = known.first(where: hasAccount)
        for record in known where record.id != same?.id { try changes.delete(record) }
        if let same {
          let change = AttributeChanges(set: [.url: url])
          _ = try changes.update(same, change, secret: credential.secret.copy())
        } else {
          _ = try changes.add(item, secret: credential.secret.copy())
        }
      }
    } catch {
      switch error {
      // Another program has a password for the same account, which docker must not replace.
      case .itemExists(let reference): throw CredentialError.taken(reference)
      // Another process has stored an entry in another group, or moved the entry to another group.
      case .bindingMismatch(_, .condition(.group)): throw CredentialError.contended
      default: throw error
      }
    }
    return true
  }

  /// Erases the credential of a registry, unless other people can read it.
  ///
  /// - Returns: True if there was one.
  /// - Throws: `malformed` for a URL without a host; `ambiguous` for entries of several groups; `KeyringError`.
  package func erase(_ serverURL: [UInt8]) throws -> Bool {
    guard let record = try entries(of: serverURL).first else { return false }
    try keyring.requireRemovable([record])
    do {
      try keyring.delete([record])
      return true
    } catch KeyringError.itemNotFound {
      return false
    }
  }

  /// Returns the registries that have a credential, and their accounts, as one JSON object. Decrypts nothing.
  ///
  /// - Throws: `KeyringError`.
  package static func list(_ index: Index) throws -> [UInt8] {
    let query = Query(itemClass: .internetPassword, predicates: [.equal(.label, Self.label)])
    let matches = try index.find(query)
    // An incomplete list is an error, because the caller would take it for the complete list.
    guard matches.problems.isEmpty else { throw CredentialError.damagedIndex }
    var accounts: [String: String] = [:]
    for record in matches.items where LoginItems.isPassword(record) {
      func text(_ name: AttributeName) -> String {
        String(decoding: record.attributes[name]?.contentBytes ?? [], as: UTF8.self)
      }
      accounts[record.attributes[.url] == nil ? url(of: record) : text(.url)] = text(.account)
    }
    let members = accounts.map { JSONMember($0.key, .string($0.value)) }
    return JSONValue.object(members).canonicalBytes
  }

  /// Returns the URL of an entry without the attribute `url`.
  private static func url(of record: ItemRecord) -> String {
    func text(_ name: AttributeName) -> String {
      String(decoding: record.attributes[name]?.contentBytes ?? [], as: UTF8.self)
    }
    var port = ""
    if case .integer(let number) = record.attributes[.port] { port = ":\(number)" }
    let scheme = record.attributes[.protocol] == nil ? "https" : text(.protocol)
    return "\(scheme)://\(text(.server))\(port)\(text(.path))"
  }

  // MARK: Finding

  /// Returns true if an item belongs to docker.
  static func isEntry(_ record: ItemRecord) -> Bool {
    LoginItems.isPassword(record) && record.attributes[.label] == Self.label
  }

  /// Returns the entries for a URL, best first.
  private func entries(of serverURL: [UInt8]) throws -> [ItemRecord] {
    var found: [ItemRecord] = []
    var rivals: [ItemRecord] = []
    var isIncomplete = false
    for endpoint in try endpoints(of: serverURL) {
      let entries = try entries(at: endpoint)
      found += entries.records
      rivals += entries.rivals
      isIncomplete = isIncomplete || entries.isIncomplete
    }
    try rivals.requireOneGroup()
    // A damaged line might be an entry: that is not the same as none.
    if found.isEmpty, isIncomplete { throw CredentialError.damagedIndex }
    return found
  }

  private func entries(at endpoint: Endpoint) throws(KeyringError) -> LoginItems.Found {
    try items.find(at: endpoint, account: nil) { record in
      let path = (record.attributes[.path]?.contentBytes ?? []).drop { $0 == UInt8(ascii: "/") }
      return Self.isEntry(record) && Array(path) == endpoint.path ?? []
    }
  }

  /// Returns the endpoints that a URL can mean. Without a scheme `https` comes first, because docker uses it by
  /// default.
  private func endpoints(of serverURL: [UInt8]) throws -> [Endpoint] {
    let hasScheme = ByteSearch.contains(serverURL, Array("://".utf8))
    let found = (hasScheme ? ["https"] : ["https", "http"]).compactMap { scheme in
      Endpoint(registry: serverURL, scheme: scheme)
    }
    guard !found.isEmpty else { throw CredentialError.malformed("the server URL has no host") }
    return found
  }
}

extension AttributeName {
  /// The original form of a password's URL, without the parts that may be secret; a custom attribute.
  static let url: AttributeName = "url"
}
