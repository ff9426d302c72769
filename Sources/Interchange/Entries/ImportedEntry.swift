internal import KeyringModel
internal import Secrets

/// One entry of a source while it is read. `finish` converts it to a login in the same way for every format.
///
/// Data that may be secret never becomes an attribute: notes, unknown fields, and a URL with a password, a query or a
/// fragment become fields of the login.
struct ImportedEntry {
  /// The position in the source.
  let source: ImportSource
  /// The public attributes.
  var attributes = Attributes()
  /// The password or other main secret.
  var secret = SecretSlice(SecretBytes())
  /// The kind of a secret that is not a password: `secure note`, `card`. Such an entry belongs to no host.
  var kind: AttributeValue?
  /// The part of the entry that the secret is.
  var part = ImportPart.secret
  /// The URLs that the password is for, the most important one first.
  var urls: [SecretSlice] = []
  /// Remarks for the user.
  var remarks: [ImportRemark] = []
  /// True if unknown fields become custom attributes, which are public.
  let showsUnknown: Bool

  private var further: [(part: ImportPart, secret: SecretSlice)] = []
  private var hasSecret = false
  // The indices of the URLs that are encrypted together, because they were in one field.
  private var sealedTogether: Set<Int> = []

  init(_ source: ImportSource, showsUnknown: Bool = false) {
    self.source = source
    self.showsUnknown = showsUnknown
  }

  /// Sets a public attribute; an empty text is ignored.
  ///
  /// A custom attribute that an item has no room for becomes a field at once. Many entries can share one long text, such
  /// as the name of their folder, so it must not be copied for each of them.
  mutating func set(_ name: AttributeName, _ text: SecretSlice?) {
    guard let text, !text.isEmpty else { return }
    guard AttributeSchema.isCustom(name) else {
      attributes[name] = AttributeValue(text: text.publicBytes())
      return
    }
    if text.count > ImportDraft.attributeLimit {
      remarks.append(.sealedForLength(name.text))
      seal(.column(name.text), text)
    } else if hasRoom || attributes[name] != nil {
      attributes[name] = AttributeValue(text: text.publicBytes())
    } else {
      seal(.column(name.text), text)
    }
  }

  /// True if an item can have another attribute.
  private var hasRoom: Bool { attributes.count < AttributeSchema.maximumCount }

  /// Sets a public attribute without replacing another value: a second value is encrypted.
  ///
  /// - Parameters:
  ///   - name: the attribute.
  ///   - text: its value; an empty one is ignored.
  ///   - title: its name in the source.
  mutating func claim(_ name: AttributeName, _ text: SecretSlice?, title: String) {
    guard let text, !text.isEmpty else { return }
    let value = AttributeSchema.value(ofText: text.publicBytes(), for: name)
    let isFree = attributes[name].map { $0.isSame(as: value) } ?? true
    // A value that is not a number is not a port.
    if isFree, AttributeSchema.kind(of: name) == nil || value.isOfKind(of: name) {
      attributes[name] = value
    } else {
      seal(.column(title), text)
    }
  }

  /// Sets the password; a second one becomes a field.
  ///
  /// - Parameters:
  ///   - password: its bytes, which may be empty.
  ///   - title: its name in the source.
  mutating func claimSecret(_ password: SecretSlice, title: String) {
    if !hasSecret {
      hasSecret = true
      secret = password
    } else if !secret.isEqual(to: password) {
      seal(.column(title), password)
    }
  }

  /// Adds the URLs of a field that contains several.
  ///
  /// If one of them may contain a secret, it is unclear which commas are part of it. Then the whole field is encrypted,
  /// and only the parts that begin like a URL are shown.
  mutating func addresses(in field: SecretSlice) {
    let found = CSVFields.urls(in: field)
    let hides = found.contains { url in unsafe url.withBytes { unsafe ImportedURL($0).hidesSomething } }
    guard found.count > 1, hides else {
      urls += found
      return
    }
    seal(.column(urls.isEmpty ? "url" : "url-\(urls.count + 1)"), field)
    for url in found where CSVFields.hasScheme(url) {
      sealedTogether.insert(urls.count)
      urls.append(url)
    }
  }

  /// Stores a part in an encrypted field.
  mutating func seal(_ part: ImportPart, _ secret: SecretSlice) { further.append((part, secret)) }

  /// Stores the free text.
  mutating func note(_ text: SecretSlice?) {
    if let text, !text.isEmpty { seal(.note, text) }
  }

  /// Stores the one-time-password seed.
  mutating func oneTimePassword(_ seed: SecretSlice?) {
    if let seed, !seed.isEmpty { seal(.oneTimePassword, seed) }
  }

  /// Stores an unknown field: encrypted, or as a custom attribute if the user asked for that.
  ///
  /// - Parameters:
  ///   - title: the name of the field.
  ///   - value: its value.
  ///   - isSecret: true if its own program treats it as a secret; then it is always encrypted.
  mutating func field(_ title: String, _ value: SecretSlice, isSecret: Bool = false) {
    if showsUnknown, !isSecret, hasRoom, let name = freeName(title) {
      attributes[name] = AttributeValue(text: value.publicBytes())
    } else {
      seal(.column(title), value)
    }
  }

  /// True if it has fields.
  var hasParts: Bool { !further.isEmpty }

  /// Makes the note the secret of an entry that has no other secret.
  mutating func becomeNote() {
    kind = .secureNote
    guard let index = further.firstIndex(where: { $0.part == .note }) else { return }
    secret = further.remove(at: index).secret
    part = .note
  }

  // Returns the custom attribute for a title, numbered if another field has the name.
  private func freeName(_ title: String) -> AttributeName? {
    let names = [AttributeName(title)] + (2...9).map { AttributeName("\(title)-\($0)") }
    guard let name = names.first(where: { attributes[$0] == nil }), AttributeSchema.isCustom(name),
      // These names are reserved for a URL and for a path of pass.
      name != .url, name != .passPath
    else { return nil }
    do {
      try AttributeSchema.check(name: name, value: "", class: .genericPassword)
      return name
    } catch {
      return nil
    }
  }

  /// Converts the entry to a login.
  func finish(into draft: inout ImportDraft) {
    var item = PlannedItem(
      itemClass: .internetPassword, attributes: attributes, secret: secret, source: source, part: part,
      remarks: remarks)
    var further = further
    if let kind, let other = attributes[.kind], !kind.isSame(as: other), let text = other.contentBytes {
      further.append((.column(AttributeName.kind.text), SecretSlice(SecretBytes(copying: text))))
    }
    item.attributes[.kind] = kind ?? attributes[.kind]
    for (index, text) in urls.enumerated() {
      let url = unsafe text.withBytes { unsafe ImportedURL($0) }
      let name = index == 0 ? AttributeName.url : AttributeName("url-\(index + 1)")
      if index == 0 {
        item.place(at: url, isPassword: kind == nil)
      } else if index < 9, !url.publicText.isEmpty {
        item.attributes[name] = AttributeValue(text: url.publicText)
      }
      if url.hidesSomething || index >= 9 {
        if !item.remarks.contains(.urlPartlySealed) { item.remarks.append(.urlPartlySealed) }
        if index >= 9 || !sealedTogether.contains(index) { further.append((.column(name.text), text)) }
      }
    }
    if item.attributes[.server] == nil { item.makeGeneric() }
    // Attributes that the class does not have, such as a port without a host.
    for (name, value) in item.attributes.entries where !AttributeSchema.applies(name, to: item.itemClass) {
      item.attributes[name] = nil
      if let text = value.fieldText {
        further.append((.column(name.text), SecretSlice(SecretBytes(copying: text))))
      }
    }
    var login = PlannedLogin(item)
    for (part, secret) in further { login.add(part, secret) }
    draft.add(login)
  }
}

extension AttributeValue {
  /// The kind of an item whose secret is a note without a login, as in Apple's keychains.
  static let secureNote: AttributeValue = "secure note"
}

extension PlannedItem {
  // Sets the server, port, protocol and similar attributes from the URL.
  fileprivate mutating func place(at url: ImportedURL, isPassword: Bool) {
    if !url.publicText.isEmpty { attributes[.url] = AttributeValue(text: url.publicText) }
    guard isPassword, let host = url.host else { return }
    // Explicit attributes of the source take precedence. The attribute `url` has the rest.
    if attributes[.server] == nil {
      attributes[.server] = AttributeValue(text: host.host)
      attributes[.port] = attributes[.port] ?? host.port.map { .integer($0) }
    }
    attributes[.protocol] = attributes[.protocol] ?? url.scheme.map { AttributeValue(text: $0) }
    if attributes[.path] == nil, !url.path.isEmpty, url.path != [UInt8(ascii: "/")] {
      alternatives = [[.path: AttributeValue(text: url.path)]]
    }
  }

  // Without a host, the service is the title, else the text that is in the source instead of a URL.
  fileprivate mutating func makeGeneric() {
    itemClass = .genericPassword
    attributes[.service] = attributes[.service] ?? attributes[.label] ?? attributes[.url]
    if let realm = attributes[.securityDomain] {
      attributes[.securityDomain] = nil
      attributes["httpRealm"] = realm
    }
  }
}

extension AttributeValue {
  /// Returns true if the value has the type of the attribute. The store accepts any text where Apple has four letters.
  fileprivate func isOfKind(of name: AttributeName) -> Bool {
    switch (AttributeSchema.kind(of: name), self) {
    case (.integer, .integer(let number)): name != .port || (0...65535).contains(number)
    case (.boolean, .boolean), (.date, .date): true
    case (.boolean, _), (.date, _): false
    default: name != .port
    }
  }
}
