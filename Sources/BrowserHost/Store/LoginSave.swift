internal import Credentials
internal import Encoding
package import Keyring
internal import KeyringModel
internal import OneTimePasswords
internal import Secrets

/// Stores a login for the extension.
package struct LoginSave {
  private let keyring: Keyring
  private let settings: BrowserSettings

  /// Creates a writer.
  package init(_ keyring: Keyring, _ settings: BrowserSettings) {
    (self.keyring, self.settings) = (keyring, settings)
  }

  /// Stores the content of a request, in one transaction. What is already stored is not written again.
  ///
  /// A line that is missing removes nothing, because the extension has not seen the note and perhaps not the seed.
  ///
  /// - Returns: True if anything in the store has changed.
  /// - Throws: `noContents`; `notAPasswordFile`; `cannotWrite` for a content that has no secret or an invalid URL or
  ///   seed, for a new name without a host, and for a name that is taken; `KeyringError`.
  package func save(_ request: BrowserRequest) throws -> Bool {
    let exact = try LoginName(requested: request.file)
    let contents = try Self.contents(of: request)
    guard let name = exact ?? LoginName(newFile: request.file ?? []) else {
      throw BrowserError(.cannotWrite, "a login needs a name such as `github.com/alice`")
    }
    guard let saved = SavedLogin(contents) else {
      throw BrowserError(.cannotWrite, "the first line must be the password")
    }
    if let seed = saved.seed { try Self.check(seed) }
    do {
      let (match, isDamaged) = try LoginSearch(keyring.index, settings).login(named: name)
      switch match {
      case .login(let login) where exact != nil: return try update(login, saved)
      case .login(let login): throw KeyringError.itemExists(login.record.reference)
      case .contested: throw BrowserError.contested(.cannotWrite)
      case .none: break
      }
      guard !isDamaged else {
        throw BrowserError(.cannotWrite, "the index is damaged; run `keytree check`")
      }
      // The login had this name when the extension made its list. A new login must not replace it.
      guard !name.isNumbered else {
        throw BrowserError(
          .cannotWrite, "the login with this number has another name now; \(BrowserError.reload)")
      }
      try add(saved, name)
      return true
    } catch KeyringError.itemExists {
      throw BrowserError(.cannotWrite, "a login with this name exists already; choose another name")
    }
  }

  private static func contents(of request: BrowserRequest) throws(BrowserError) -> SecretSlice {
    guard let contents = request.contents,
      unsafe contents.withBytes({ bytes in
        unsafe !ExtensionText.trimmed(bytes, 0..<bytes.count).isEmpty
      })
    else { throw BrowserError(.noContents, "there is nothing to save; enter a password") }
    guard contents.count <= SentLogin.limit else {
      throw BrowserError(.cannotWrite, "the content is larger than \(SentLogin.limit >> 10) KiB")
    }
    return contents
  }

  private static func check(_ seed: SecretSlice) throws(BrowserError) {
    do {
      _ = try Seed(seed.copy())
    } catch {
      throw BrowserError(
        .cannotWrite, "the line `otp` is not a seed of one-time passwords; enter an `otpauth` URI or Base32")
    }
  }

  // MARK: An existing login

  private func update(_ login: WebLogin, _ saved: SavedLogin) throws -> Bool {
    try keyring.requireMembership(of: login.record)
    let changes = try changes(of: login, saved)
    let reader = LoginItems(keyring: keyring)
    let hasNewSecret = try !reader.secret(of: login.record).isEqual(to: saved.secret)
    let fields = try LoginFields(of: login.record, in: keyring.index)
    let newFields = try newFields(saved, fields, login.record)
    guard hasNewSecret || !changes.isEmpty || !newFields.isEmpty else { return false }
    if hasNewSecret || !newFields.isEmpty { try keyring.requireReplaceable(login.record) }
    let key = AttributeSchema.primaryKey(of: login.record.itemClass)
    let forFields = changes.limited(to: Set(key))
    try keyring.transaction { staged throws(KeyringError) in
      let item =
        hasNewSecret
        ? try staged.update(login.record, changes, secret: saved.secret.copy())
        : try staged.update(login.record, changes)
      for field in fields.records where !newFields.contains(where: { $0.record?.id == field.id }) {
        if !forFields.isEmpty { try staged.update(field, forFields) }
      }
      for field in newFields {
        if let record = field.record {
          try staged.update(record, forFields, secret: field.secret.copy())
        } else {
          try staged.add(Self.field(field.name, of: item), secret: field.secret.copy())
        }
      }
    }
    return true
  }

  /// A field that gets a new secret.
  private struct NewField {
    let name: String
    /// The existing field; nil for a new one.
    let record: ItemRecord?
    let secret: SecretSlice
  }

  /// Returns the fields that are given and differ from the stored ones.
  private func newFields(
    _ saved: SavedLogin, _ fields: LoginFields, _ login: ItemRecord
  ) throws(KeyringError) -> [NewField] {
    var new: [NewField] = []
    for (name, secret) in Self.fields(of: saved) {
      let record = fields[name]
      if let record, let old = try keyring.readableSecret(of: record, login: login),
        old.isEqual(to: secret) || (name == FieldName.oneTimePassword && Self.isSame(old, secret))
      {
        continue
      }
      new.append(NewField(name: name, record: record, secret: secret))
    }
    return new
  }

  private static func fields(of saved: SavedLogin) -> [(name: String, secret: SecretSlice)] {
    [(FieldName.oneTimePassword, saved.seed), (FieldName.note, saved.note)].compactMap { name, secret in
      secret.map { (name, $0) }
    }
  }

  /// Returns true if a seed differs from the stored one only by the white space around it, which no line can show.
  private static func isSame(_ old: SecretSlice, _ new: SecretSlice) -> Bool {
    let range = unsafe old.withBytes { unsafe ExtensionText.trimmed($0, 0..<$0.count) }
    return old.part(range).isEqual(to: new)
  }

  private static func field(_ name: String, of login: ItemRecord) -> NewItem {
    var attributes: Attributes = [.field: .string(name)]
    for key in AttributeSchema.primaryKey(of: login.itemClass) + [.synchronizable] where key != .field {
      attributes[key] = login.attributes[key]
    }
    return NewItem(
      itemClass: login.itemClass, attributes: attributes, group: login.group, isLocal: login.isLocal)
  }

  /// Returns the changes of the attributes. A line that says what the extension received changes nothing.
  private func changes(of login: WebLogin, _ saved: SavedLogin) throws(BrowserError) -> AttributeChanges {
    var changes = AttributeChanges()
    if let account = saved.account, account != SentLogin.asRead(login.account) {
      changes.set[.account] = AttributeValue(text: account)
    }
    guard let url = saved.url, url != login.url.map(SentLogin.asRead) else { return changes }
    let place = try SavedPlace(url: url, protocols: settings.protocols)
    if login.record.itemClass == .genericPassword || login.record.attributes[.url] != nil {
      changes.set[.url] = AttributeValue(text: place.url)
    }
    guard login.record.itemClass == .internetPassword else { return changes }
    let wanted = place.attributes(protocolOf: login.record)
    for name in SavedPlace.names where login.record.attributes[name] != wanted[name] {
      if let value = wanted[name] { changes.set[name] = value } else { changes.clear.append(name) }
    }
    return changes
  }

  // MARK: A new login

  private func add(_ saved: SavedLogin, _ name: LoginName) throws {
    let (itemClass, attributes) = try newItem(saved, name)
    let item = NewItem(itemClass: itemClass, attributes: attributes)
    try keyring.requireNewName(item)
    try keyring.transaction { staged throws(KeyringError) in
      let record = try staged.add(item, secret: saved.secret.copy())
      for (name, secret) in Self.fields(of: saved) {
        try staged.add(Self.field(name, of: record), secret: secret.copy())
      }
    }
  }

  /// Returns the attributes of a new item, by the rule that `keytree import pass` has for paths.
  private func newItem(
    _ saved: SavedLogin, _ name: LoginName
  ) throws(BrowserError) -> (ItemClass, Attributes) {
    let folder = PercentEscapes.decode(name.folder)
    let host = folder.flatMap { HostName(lookingLike: $0) }
    guard let folder, let account = name.plainAccount(host: host?.host ?? []) else {
      throw BrowserError(.cannotWrite, "`%` in a name must be followed by two digits")
    }
    var attributes = Attributes()
    if let url = saved.url {
      attributes[.url] = AttributeValue(text: try SavedPlace(url: url, protocols: settings.protocols).url)
    }
    let given = saved.account ?? account
    if let host {
      attributes[.server] = AttributeValue(text: host.host)
      attributes[.protocol] = .string(WebLogin.defaultScheme)
      attributes[.port] = host.port.flatMap { $0 == 443 ? nil : .integer($0) }
      attributes[.account] = given.isEmpty ? nil : AttributeValue(text: given)
      if !account.isEmpty, given != account { attributes[.label] = AttributeValue(text: account) }
      return (.internetPassword, attributes)
    }
    guard settings.storesGeneric else {
      throw BrowserError(
        .cannotWrite, "the name needs a host, for example `github.com/alice`",
        detail: "the setting `browser.generic` allows other names")
    }
    attributes[.service] = AttributeValue(text: folder)
    attributes[.account] = given.isEmpty ? nil : AttributeValue(text: given)
    return (.genericPassword, attributes)
  }
}

/// The place that a URL names, without its parts that may be secret, because attributes are public.
private struct SavedPlace {
  /// The attributes of an internet password that a URL determines.
  static let names: [AttributeName] = [.server, .port, .protocol, .path]

  private let endpoint: Endpoint
  /// The URL without user, query and fragment.
  let url: [UInt8]

  /// - Throws: `cannotWrite` for a URL without a host, and for a protocol that no browser may see.
  init(url: [UInt8], protocols: Set<String>) throws(BrowserError) {
    guard let endpoint = Endpoint(url: url, scheme: WebLogin.defaultScheme) else {
      throw BrowserError(
        .cannotWrite, "the line `url` names no host; enter for example `https://github.com/`")
    }
    guard protocols.contains(endpoint.scheme) else {
      throw BrowserError(
        .cannotWrite, "the line `url` must begin with `https://` or `http://`",
        detail: "the setting `browser.protocols` allows other protocols")
    }
    self.endpoint = endpoint
    self.url = Endpoint.publicURL(url)
  }

  /// Returns the attributes of an item at this place.
  ///
  /// - Parameter record: The item. If it has no protocol and the URL is one of `https`, it still has none.
  func attributes(protocolOf record: ItemRecord) -> Attributes {
    let isDefault = endpoint.scheme == WebLogin.defaultScheme && record.attributes[.protocol] == nil
    var attributes: Attributes = [.server: AttributeValue(text: endpoint.host.host)]
    attributes[.port] = endpoint.host.port.map { .integer($0) }
    attributes[.protocol] = isDefault ? nil : .string(endpoint.scheme)
    attributes[.path] = endpoint.path.map { AttributeValue(text: $0) }
    return attributes
  }
}

extension AttributeChanges {
  /// True if nothing changes.
  fileprivate var isEmpty: Bool { self.set.isEmpty && clear.isEmpty }

  /// Returns the changes of some attributes.
  fileprivate func limited(to names: Set<AttributeName>) -> AttributeChanges {
    var limited = AttributeChanges(clear: clear.filter(names.contains))
    for entry in set.entries where names.contains(entry.name) { limited.set[entry.name] = entry.value }
    return limited
  }
}
