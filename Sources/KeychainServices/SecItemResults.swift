internal import Foundation
internal import Keyring
internal import Secrets

/// Items as the objects that a call returns.
struct SecItemResults {
  let request: SecItemRequest
  let keyring: Keyring

  /// The marker of an item that was added without data, which is not the same as empty data.
  static let contentName = AttributeName("content")
  static let noContent = AttributeValue.string("none")

  /// What a call returns: one object, or an array of them when more than one item was asked for.
  ///
  /// - Parameter records: the items, at least one.
  /// - Returns: nil when nothing was asked for, or when nothing is there to return.
  func object(_ records: [ItemRecord]) throws(SecItemFailure) -> CFTypeRef? {
    guard !request.returns.isEmpty else { return nil }
    var objects: [Any] = []
    for record in records {
      do throws(SecItemFailure) {
        if let object = try object(record) { objects.append(object) }
      } catch {
        guard request.interaction == .skip, error.status == errSecInteractionNotAllowed else { throw error }
      }
    }
    if returnsArray { return objects as NSArray }
    if objects.isEmpty, request.interaction == .skip { throw SecItemFailure(errSecItemNotFound) }
    return objects.first.map { $0 as AnyObject }
  }

  /// The same for identities.
  func object(_ identities: [SecItemSearch.Identity]) throws(SecItemFailure) -> CFTypeRef? {
    guard !request.returns.isEmpty else { return nil }
    var objects: [Any] = []
    for identity in identities { objects.append(try object(identity)) }
    return returnsArray ? objects as NSArray : objects.first.map { $0 as AnyObject }
  }

  private var returnsArray: Bool {
    guard request.purpose == .find else { return false }
    return request.limit.map { $0 != .one } ?? false
  }

  private func object(_ record: ItemRecord) throws(SecItemFailure) -> Any? {
    let parts = request.returns
    var data: Data?
    if parts.contains(.data) || (parts.contains(.reference) && record.isReferable), record.hasContent {
      data = try Self.data(of: record, in: keyring)
    }
    let reference = parts.contains(.reference) ? data.flatMap { Self.reference(to: record, data: $0) } : nil
    switch parts {
    case .data: return data
    case .attributes: return Self.attributes(of: record)
    case .reference: return reference
    case .persistentReference: return PersistentReference(record).data
    default:
      var dictionary = parts.contains(.attributes) ? Self.attributes(of: record) : [:]
      if parts.contains(.data) { dictionary[kSecValueData as String] = data }
      if parts.contains(.reference) { dictionary[kSecValueRef as String] = reference }
      if parts.contains(.persistentReference) {
        dictionary[kSecValuePersistentRef as String] = PersistentReference(record).data
      }
      return dictionary
    }
  }

  private func object(_ identity: SecItemSearch.Identity) throws(SecItemFailure) -> Any {
    let parts = request.returns
    var data: Data?
    if parts.contains(.data) || parts.contains(.reference) {
      data = try Self.data(of: identity.certificate, in: keyring)
    }
    var reference: SecIdentity?
    if parts.contains(.reference), let data {
      let bytes = try Self.data(of: identity.key, in: keyring)
      guard let certificate = SecCertificate(der: data),
        let key = SecKey(record: identity.key.attributes, data: bytes)
      else { throw SecItemFailure(errSecDecode) }
      reference = SecIdentity(certificate: certificate, key: key)
    }
    let persistentReference = PersistentReference(identity.certificate).data
    if parts == .data, let data { return data }
    if parts == .reference, let reference { return reference }
    if parts == .persistentReference { return persistentReference }
    var dictionary: [String: Any] = [:]
    if parts.contains(.attributes) {
      dictionary = Self.attributes(of: identity.key)
      dictionary.merge(Self.attributes(of: identity.certificate)) { $1 }
      dictionary[kSecClass as String] = kSecClassIdentity as String
    }
    if parts.contains(.data) { dictionary[kSecValueData as String] = data }
    if parts.contains(.reference) { dictionary[kSecValueRef as String] = reference }
    if parts.contains(.persistentReference) {
      dictionary[kSecValuePersistentRef as String] = persistentReference
    }
    return dictionary
  }

  // MARK: Parts

  /// The content of an item, decrypted.
  static func data(of record: ItemRecord, in keyring: Keyring) throws(SecItemFailure) -> Data {
    try keyringStatus { () throws(KeyringError) in
      let secret = try keyring.secret(
        for: record, matching: Query(itemClass: record.itemClass), asksAgain: record.requiresUserPresence)
      return unsafe secret.withBytes { unsafe Data($0) }
    }
  }

  /// What stands for a certificate or a key itself; passwords have nothing of the kind.
  private static func reference(to record: ItemRecord, data: Data) -> AnyObject? {
    switch record.itemClass {
    case .certificate: SecCertificate(der: data)
    case .key: SecKey(record: record.attributes, data: data)
    case .genericPassword, .internetPassword: nil
    }
  }

  /// The attributes under Apple's names, those of the primary key always among them.
  static func attributes(of record: ItemRecord) -> [String: Any] {
    var result: [String: Any] = [
      kSecClass as String: record.itemClass.code, ItemAttributes.group: record.group,
      ItemAttributes.created: ItemAttributes.date(record.created),
      ItemAttributes.modified: ItemAttributes.date(record.modified),
      kSecAttrSynchronizable as String: NSNumber(value: record.attributes[.synchronizable] == .boolean(true)),
    ]
    let defaults = ItemAttributes.defaults(of: record.itemClass)
    for (name, value) in defaults + record.attributes.entries where name != .synchronizable {
      guard let code = ItemAttributes.code(of: name), name != .accessControl else { continue }
      result[code] = ItemAttributes.object(value, of: name)
    }
    let protection =
      result[kSecAttrAccessible as String] as? String
      ?? ItemAttributes.defaultProtection(of: record.itemClass)
    result[kSecAttrAccessible as String] = protection
    result[kSecAttrAccessControl as String] = record.accessControl(protection: protection)
    return result
  }
}

extension ItemRecord {
  /// Whether there is an object that stands for the item itself.
  fileprivate var isReferable: Bool { itemClass == .certificate || itemClass == .key }

  /// Whether the item was given data.
  fileprivate var hasContent: Bool { attributes[SecItemResults.contentName] != SecItemResults.noContent }

  /// Whether a person has to do something each time the item is given out.
  fileprivate var requiresUserPresence: Bool {
    accessControl(protection: ItemAttributes.defaultProtection(of: itemClass))?.requiresUserPresence == true
  }

  /// The conditions under which the item is given out.
  fileprivate func accessControl(protection: String) -> SecAccessControl? {
    if let bytes = attributes[.accessControl]?.contentBytes, let control = SecAccessControl(serialized: bytes)
    {
      return control
    }
    return SecAccessControl(protection: protection, flags: [])
  }
}
