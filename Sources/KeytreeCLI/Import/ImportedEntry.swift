internal import KeyringModel
internal import Secrets

/// One entry of a source while it is read: what every format makes of an entry is decided here, in `finish`.
///
/// What may be secret is never an attribute: notes, fields that nobody knows, and a URL with a password, a query or a
/// fragment become fields of the login.
struct ImportedEntry {
  /// Where it was found.
  let source: ImportSource
  /// What is public about it.
  var attributes = Attributes()
  /// The password, or what stands in its place.
  var secret = SecretSlice(SecretBytes())
  /// What the secret is, when it is no password: `secure note`, `card`. Such an entry belongs to no host.
  var kind: AttributeValue?
  /// Which part of the entry the secret is.
  var part = ImportPart.secret
  /// Where the password belongs, the most important place first.
  var urls: [SecretSlice] = []
  /// What its owner should know.
  var remarks: [ImportRemark] = []
  /// Whether fields that nobody knows become custom attributes, which are public.
  let showsUnknown: Bool

  private var further: [(part: ImportPart, secret: SecretSlice)] = []
  private var hasSecret = false
  // Which of the addresses are sealed together, as they stood in one field.
  private var sealedTogether: Set<Int> = []

  init(_ source: ImportSource, showsUnknown: Bool = false) {
    self.source = source
    self.showsUnknown = showsUnknown
  }

  /// Sets a public attribute; an empty text says nothing.
  mutating func set(_ name: AttributeName, _ text: SecretSlice?) {
    guard let text, !text.isEmpty else { return }
    attributes[name] = AttributeValue(text: text.publicBytes())
  }

  /// Sets a public attribute that must not take the place of another value: a second one is sealed.
  ///
  /// - Parameters:
  ///   - name: the attribute.
  ///   - text: its value; an empty one says nothing.
  ///   - title: what the source calls it.
  mutating func claim(_ name: AttributeName, _ text: SecretSlice?, title: String) {
    guard let text, !text.isEmpty else { return }
    let value = AttributeSchema.value(ofText: text.publicBytes(), for: name)
    let isFree = attributes[name].map { $0.isSame(as: value) } ?? true
    // A port that is no number says something else than a port.
    if isFree, AttributeSchema.kind(of: name) == nil || value.isOfKind(of: name) {
      attributes[name] = value
    } else {
      seal(.column(title), text)
    }
  }

  /// Sets the password; a second one is sealed beside it.
  ///
  /// - Parameters:
  ///   - password: its bytes, which may be none.
  ///   - title: what the source calls it.
  mutating func claimSecret(_ password: SecretSlice, title: String) {
    if !hasSecret {
      hasSecret = true
      secret = password
    } else if !secret.isEqual(to: password) {
      seal(.column(title), password)
    }
  }

  /// Adds the addresses of a field that has several.
  ///
  /// When one of them holds what may be secret, nobody knows where the commas of it belong: then the field is
  /// sealed as a whole, and shown are those alone that begin as a URL does.
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

  /// Keeps a part in a field.
  mutating func seal(_ part: ImportPart, _ secret: SecretSlice) { further.append((part, secret)) }

  /// Keeps the free text.
  mutating func note(_ text: SecretSlice?) {
    if let text, !text.isEmpty { seal(.note, text) }
  }

  /// Keeps the seed of one-time passwords.
  mutating func oneTimePassword(_ seed: SecretSlice?) {
    if let seed, !seed.isEmpty { seal(.oneTimePassword, seed) }
  }

  /// Keeps a field that nobody knows: sealed, or as a custom attribute where the person has asked for that.
  ///
  /// - Parameters:
  ///   - title: the name of the field.
  ///   - value: what it says.
  ///   - isSecret: whether its own program treats it as a secret; then it is sealed in any case.
  mutating func field(_ title: String, _ value: SecretSlice, isSecret: Bool = false) {
    if showsUnknown, !isSecret, let name = freeName(title) {
      attributes[name] = AttributeValue(text: value.publicBytes())
    } else {
      seal(.column(title), value)
    }
  }

  /// Whether it has fields.
  var hasParts: Bool { !further.isEmpty }

  /// Makes the note the secret of an entry that has no other.
  mutating func becomeNote() {
    kind = .secureNote
    guard let index = further.firstIndex(where: { $0.part == .note }) else { return }
    secret = further.remove(at: index).secret
    part = .note
  }

  // The custom attribute of this title, numbered when another field has it.
  private func freeName(_ title: String) -> AttributeName? {
    let names = [AttributeName(title)] + (2...9).map { AttributeName("\(title)-\($0)") }
    guard let name = names.first(where: { attributes[$0] == nil }), AttributeSchema.isCustom(name),
      // Names that a URL and a path of pass are kept under.
      name != .url, name != .passPath
    else { return nil }
    do {
      try AttributeSchema.check(name: name, value: "", class: .genericPassword)
      return name
    } catch {
      return nil
    }
  }

  /// Turns it into a login.
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
    // What a URL or the lack of one has left without a place, such as a port without a host.
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
  /// The kind of an item whose secret is a note without a login, as Apple's keychains call it.
  static let secureNote: AttributeValue = "secure note"
}

extension PlannedItem {
  // Says where the password belongs, as far as the URL knows.
  fileprivate mutating func place(at url: ImportedURL, isPassword: Bool) {
    if !url.publicText.isEmpty { attributes[.url] = AttributeValue(text: url.publicText) }
    guard isPassword, let host = url.host else { return }
    // What the source says by itself comes first; the attribute `url` has the rest.
    if attributes[.server] == nil {
      attributes[.server] = AttributeValue(text: host.host)
      attributes[.port] = attributes[.port] ?? host.port.map { .integer($0) }
    }
    attributes[.protocol] = attributes[.protocol] ?? url.scheme.map { AttributeValue(text: $0) }
    if attributes[.path] == nil, !url.path.isEmpty, url.path != [UInt8(ascii: "/")] {
      alternatives = [[.path: AttributeValue(text: url.path)]]
    }
  }

  // Without a host the title is the best name of the service; else the text where a URL should be.
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
  /// Whether this is what the attribute is for; the store itself takes any text where Apple has four letters.
  fileprivate func isOfKind(of name: AttributeName) -> Bool {
    switch (AttributeSchema.kind(of: name), self) {
    case (.integer, .integer(let number)): name != .port || (0...65535).contains(number)
    case (.boolean, .boolean), (.date, .date): true
    case (.boolean, _), (.date, _): false
    default: name != .port
    }
  }
}
