internal import Foundation
internal import Keyring

/// A checked query or set of attributes of Apple's keychain, in terms of the store.
struct SecItemRequest {
  /// The function that the dictionary was passed to. Some keys have a meaning in only one of them.
  enum Purpose { case add, find, update, delete }

  /// The results to return for an item.
  struct Returns: OptionSet {
    let rawValue: Int
    static let data = Returns(rawValue: 1)
    static let attributes = Returns(rawValue: 2)
    static let reference = Returns(rawValue: 4)
    static let persistentReference = Returns(rawValue: 8)
  }

  /// The treatment of items that need the user's passphrase; a later case is stricter.
  enum Interaction: Int { case allow, skip, fail }

  /// The items that `synchronizable` selects.
  enum Synchronizable { case no, yes, any }

  let purpose: Purpose
  /// The class; nil means identities, which are not a class of the store.
  var itemClass: ItemClass?
  var isIdentity = false
  var attributes = Attributes()
  var group: String?
  var created: AttributeValue?
  var modified: AttributeValue?
  var synchronizable = Synchronizable.no
  var accessControl: SecAccessControl?
  var limit: Query.Limit?
  var returns: Returns = []
  var data: Data?
  var reference: AnyObject?
  /// The item that a key was read from.
  var itemID: ItemID?
  var persistentReference: PersistentReference?
  var itemList: SecItemList?
  var matching = SecItemMatching()
  var interaction = Interaction.allow

  /// Reads a dictionary.
  ///
  /// - Throws: the status of the first error. Nothing has been looked up then.
  init(_ dictionary: CFDictionary, for purpose: Purpose) throws {
    self.purpose = purpose
    let entries = try Self.entries(of: dictionary)
    if purpose == .find { try Self.refuseDataOfAll(entries) }
    try readValues(entries)
    try readClass(entries)
    // Sorted, so that the same error is always reported if there are several.
    let sorted = entries.sorted { $0.key < $1.key }
    for (key, value) in sorted where !Self.isSpecial(key) { try readAttribute(key, value) }
    for (key, value) in sorted where Self.isSpecial(key) { try readOption(key, value) }
    try check()
  }

  /// Refuses a request for the data of all matches, regardless of its other entries.
  private static func refuseDataOfAll(_ entries: [String: Any]) throws {
    guard let data = entries[kSecReturnData as String], let limit = entries[kSecMatchLimit as String],
      limit as? String == kSecMatchLimitAll as String
    else { return }
    if try flag(data) { throw SecItemFailure.parameter }
  }

  /// Returns the entries by name; refuses keys that are not text.
  private static func entries(of dictionary: CFDictionary) throws -> [String: Any] {
    var entries: [String: Any] = [:]
    for (key, value) in dictionary.unbridgedEntries {
      // No key takes a dictionary as its value, and a dictionary that contains itself cannot be bridged to Swift.
      if value is NSDictionary { throw SecItemFailure.parameter }
      let name: String
      switch key {
      case let text as String: name = text
      case let text as NSString: name = text as String
      default: throw SecItemFailure.parameter
      }
      // Only `kSecMatchValidOnDate` accepts null, which means now.
      if value is NSNull, name == SecItemMatching.validOnDate {
        entries[name] = NSNull()
        continue
      }
      entries[name] = try ItemAttributes.present(value)
    }
    return entries
  }

  private static let prefixes = ["v_", "r_", "m_", "u_"]

  /// Returns true if a key is not an attribute.
  private static func isSpecial(_ key: String) -> Bool {
    key == "class" || key == "nleg" || prefixes.contains { key.hasPrefix($0) }
  }

  // MARK: The parts

  private mutating func readClass(_ entries: [String: Any]) throws {
    guard let value = entries[kSecClass as String] else {
      if let persistentReference {
        isIdentity = persistentReference.isIdentity
        itemClass = isIdentity ? nil : persistentReference.itemClass
      }
      if isIdentity || itemClass != nil { return }
      throw SecItemFailure.parameter
    }
    guard let code = value as? String else { throw SecItemFailure.parameter }
    if code == kSecClassIdentity as String {
      // A certificate or a key alone is not an identity.
      if reference != nil, !isIdentity { throw SecItemFailure.parameter }
      isIdentity = true
      itemClass = nil
      return
    }
    if isIdentity { throw SecItemFailure.parameter }
    guard let named = ItemClass(code: code) else { throw SecItemFailure(errSecNoSuchClass) }
    if let known = itemClass, known != named, persistentReference == nil { throw SecItemFailure.parameter }
    itemClass = named
  }

  private mutating func readAttribute(_ key: String, _ value: Any) throws {
    switch key {
    case ItemAttributes.group:
      group = try Self.text(value)
      return
    case ItemAttributes.created:
      created = try Self.time(value)
      return
    case ItemAttributes.modified:
      modified = try Self.time(value)
      return
    case kSecAttrSynchronizable:
      synchronizable = try Self.synchronizable(value, purpose)
      return
    case kSecAttrAccessControl:
      guard let control = value as? SecAccessControl else { throw SecItemFailure.parameter }
      accessControl = control
      return
    case kSecAttrPersistentReference:
      throw SecItemFailure.parameter
    default: break
    }
    // An identity has the attributes of both of its parts.
    let classes: [ItemClass] = itemClass.map { [$0] } ?? [.certificate, .key]
    guard let (itemClass, name) = Self.name(of: key, in: classes) else {
      throw key.utf8.count == 4 ? SecItemFailure.noSuchAttribute : .parameter
    }
    var stored = try ItemAttributes.stored(value, for: name)
    if [.issuer, .subject].contains(name) { stored = Self.normalized(stored) }
    if name == .accessible, !Self.isProtection(stored) { throw SecItemFailure.parameter }
    do {
      try AttributeSchema.check(name: name, value: stored, class: itemClass)
    } catch {
      throw KeyringError.invalidAttribute(error)
    }
    attributes[name] = stored
  }

  private static func name(of key: String, in classes: [ItemClass]) -> (ItemClass, AttributeName)? {
    for itemClass in classes {
      if let name = ItemAttributes.name(of: key, in: itemClass) { return (itemClass, name) }
    }
    return nil
  }

  /// Returns a name in the form in which the store keeps the names of certificates. Bytes that are not the DER of a
  /// name are returned unchanged.
  private static func normalized(_ value: AttributeValue) -> AttributeValue {
    value.contentBytes.flatMap { SecCertificate.normalizedName($0) }.map(AttributeValue.bytes) ?? value
  }

  private static func isProtection(_ value: AttributeValue) -> Bool {
    guard case .string(let word) = value else { return false }
    return ItemAttributes.isProtection(ItemAttributes.code(for: word, of: .accessible))
  }

  private mutating func readValues(_ entries: [String: Any]) throws {
    if let value = entries[kSecValueData as String] {
      guard let bytes = value as? Data else { throw SecItemFailure.parameter }
      data = bytes
    }
    if let value = entries[kSecValuePersistentRef as String] {
      guard purpose != .add, let bytes = value as? Data else { throw SecItemFailure.parameter }
      guard let reference = PersistentReference(bytes) else { throw SecItemFailure.parameter }
      persistentReference = reference
    }
    if let value = entries[kSecValueRef as String] { try readReference(value) }
  }

  private mutating func readReference(_ value: Any) throws {
    switch value {
    case let certificate as SecCertificate:
      itemClass = .certificate
      attributes.merge(identifying(certificate.itemAttributes, .certificate))
      try take(certificate.der)
      reference = certificate
    case let key as SecKey:
      itemClass = .key
      itemID = purpose == .add ? nil : key.itemID
      // A key that was read from the store identifies its item by id, regardless of the item's attributes.
      if itemID == nil { attributes.merge(identifying(key.itemAttributes, .key)) }
      // Many symmetric keys differ only in their bytes, which no attribute contains.
      if itemID == nil, purpose != .add, attributes[.applicationLabel] == nil {
        throw SecItemFailure.parameter
      }
      try take(key.externalRepresentation)
      reference = key
    case let identity as SecIdentity:
      isIdentity = true
      reference = identity
    default: throw SecItemFailure.parameter
    }
  }

  /// Takes the content of an object that is added. Refuses different data, because the attributes of the item would not
  /// match it.
  private mutating func take(_ content: Data) throws {
    guard purpose == .add else { return }
    guard data == nil || data == content else { throw SecItemFailure.parameter }
    data = content
  }

  /// Returns the attributes that a reference contributes: all for a new item, otherwise those that identify the item.
  private func identifying(_ attributes: Attributes, _ itemClass: ItemClass) -> Attributes {
    purpose == .add ? attributes : attributes.primaryKey(of: itemClass)
  }

  private mutating func readOption(_ key: String, _ value: Any) throws {
    switch key {
    case kSecClass, kSecValueData, kSecValueRef, kSecValuePersistentRef: return
    // These options have no effect: there is only one store, and the agent uses its own prompt.
    case kSecUseDataProtectionKeychain, kSecUseOperationPrompt, kSecUseKeychain,
      kSecUseUserIndependentKeychain:
      return
    case kSecReturnData: if try Self.flag(value) { returns.insert(.data) }
    case kSecReturnAttributes: if try Self.flag(value) { returns.insert(.attributes) }
    case kSecReturnRef: if try Self.flag(value) { returns.insert(.reference) }
    case kSecReturnPersistentRef: if try Self.flag(value) { returns.insert(.persistentReference) }
    case kSecMatchLimit: limit = try Self.limit(value)
    case kSecMatchItemList: itemList = try SecItemList(value)
    case kSecUseItemList: throw SecItemFailure.parameter
    case kSecUseNoAuthenticationUI: if try Self.flag(value) { restrict(to: .fail) }
    case kSecUseAuthenticationUI: restrict(to: try Self.interaction(value, purpose))
    case kSecUseAuthenticationContext:
      guard let context = value as? LAContext else { throw SecItemFailure.parameter }
      if context.isInvalidated { throw SecItemFailure(errSecAuthFailed) }
      if context.interactionNotAllowed { restrict(to: .fail) }
    default:
      guard try matching.read(key, value) else { throw SecItemFailure.parameter }
    }
  }

  /// Applies an option about asking the user. The strictest option wins.
  private mutating func restrict(to wish: Interaction) {
    if wish.rawValue > interaction.rawValue { interaction = wish }
  }

  /// Checks the rules that involve several entries.
  private func check() throws {
    // Trust is not evaluated. Returning an unchecked certificate as a trusted one would be worse than returning none.
    if matching.needsTrust, isIdentity || itemClass == .certificate {
      throw SecItemFailure(errSecUnimplemented)
    }
    let hasAttributes =
      !attributes.isEmpty || group != nil || created != nil || modified != nil || accessControl != nil
    if persistentReference != nil, hasAttributes { throw SecItemFailure.parameter }
    if let accessControl {
      // A password that the program adds to the user's passphrase would have to be part of the encryption.
      if purpose != .find, purpose != .delete, accessControl.flags.contains(.applicationPassword) {
        throw SecItemFailure(errSecUnimplemented)
      }
      if synchronizable == .yes, accessControl.flags != [] { throw SecItemFailure.parameter }
      if case .string(let word)? = attributes[.accessible],
        ItemAttributes.code(for: word, of: .accessible) != accessControl.protection
          || accessControl.flags != []
      {
        throw SecItemFailure.parameter
      }
    }
  }
}

// MARK: Single values

extension SecItemRequest {
  static func flag(_ value: Any) throws -> Bool {
    guard let number = value as? NSNumber, number.isBoolean else { throw SecItemFailure.parameter }
    return number.boolValue
  }

  static func text(_ value: Any) throws -> String {
    if let text = value as? String { return text }
    guard let data = value as? Data, data.count <= AttributeSchema.maximumValueSize,
      let text = String(validating: data, as: UTF8.self)
    else { throw SecItemFailure.parameter }
    return text
  }

  private static func time(_ value: Any) throws -> AttributeValue {
    guard let date = value as? Date else { throw SecItemFailure.parameter }
    return try ItemAttributes.timestamp(date)
  }

  private static func limit(_ value: Any) throws -> Query.Limit {
    switch value {
    case let text as String where text == kSecMatchLimitOne as String: return .one
    case let text as String where text == kSecMatchLimitAll as String: return .all
    case let number as NSNumber:
      guard let count = ItemAttributes.integer(number), count > 0 else { throw SecItemFailure.parameter }
      return count == 1 ? .one : .count(Int(count))
    default: throw SecItemFailure.parameter
    }
  }

  private static func synchronizable(_ value: Any, _ purpose: Purpose) throws
    -> Synchronizable
  {
    if let text = value as? String, text == kSecAttrSynchronizableAny as String {
      guard purpose != .add else { throw SecItemFailure.parameter }
      return .any
    }
    return try ItemAttributes.stored(value, for: .synchronizable) == .boolean(true) ? .yes : .no
  }

  private static func interaction(_ value: Any, _ purpose: Purpose) throws -> Interaction {
    guard let text = value as? String else { throw SecItemFailure.parameter }
    switch text {
    case kSecUseAuthenticationUIAllow: return .allow
    case kSecUseAuthenticationUIFail: return .fail
    case kSecUseAuthenticationUISkip:
      guard purpose == .find else { throw SecItemFailure.parameter }
      return .skip
    default: throw SecItemFailure.parameter
    }
  }
}

extension ItemClass {
  /// Creates the class for one of Apple's codes; nil for an unknown code, and for identities.
  init?(code: String) {
    guard let known = Self.codes.first(where: { $0.value == code })?.key else { return nil }
    self = known
  }

  /// Apple's code.
  var code: String { Self.codes[self] ?? rawValue }

  private static let codes: [ItemClass: String] = [
    .genericPassword: "genp", .internetPassword: "inet", .certificate: "cert", .key: "keys",
  ]
}
