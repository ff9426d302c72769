internal import Foundation
internal import Keyring

/// Items as the objects that a call returns.
struct SecItemResults {
  let search: SecItemSearch
  /// The content of items that the call has brought or decrypted already.
  var known: [ItemPlace: Data] = [:]

  private var request: SecItemRequest { search.request }

  /// The marker of an item that was added without data, which is not the same as empty data.
  static let contentName = AttributeName("content")
  static let noContent = AttributeValue.string("none")

  /// Returns the result of a call: one object, or an array of them if more than one item was asked for.
  ///
  /// - Parameter found: What there is, at least one.
  /// - Returns: nil when nothing was asked for, or when nothing is there to return.
  /// - Throws: `errSecItemNotFound` when everything was left out because nobody may be asked.
  func object(_ found: [SecItemSearch.Found]) throws -> CFTypeRef? {
    guard !request.returns.isEmpty else { return nil }
    var objects: [Any] = []
    var count = 0
    var gone: SecItemFailure?
    for one in found where count < limit {
      do {
        if let object = try object(one) { objects.append(object) }
        count += 1
      } catch {
        // Nobody is asked again for the others because one of them is gone.
        let failure = SecItemFailure(error)
        if failure.isOfItemGone { gone = failure }
        guard request.skips(failure) || failure.isOfItemGone else { throw failure }
      }
    }
    guard count > 0 else { throw gone ?? SecItemFailure(errSecItemNotFound) }
    return returnsArray ? objects as NSArray : objects.first.map { $0 as AnyObject }
  }

  private var limit: Int {
    switch request.limit ?? .one {
    case .one: 1
    case .count(let count): count
    case .all: .max
    }
  }

  private var returnsArray: Bool {
    guard request.purpose == .find else { return false }
    return request.limit.map { $0 != .one } ?? false
  }

  private func object(_ found: SecItemSearch.Found) throws -> Any? {
    let parts = request.returns
    let content = parts.contains(.data) || parts.contains(.reference) ? try content(of: found) : nil
    let reference = parts.contains(.reference) ? try reference(to: found, content) : nil
    let data = parts.contains(.data) ? content : nil
    let persistentReference = self.persistentReference(to: found)
    switch parts {
    case .data: return data
    case .attributes: return Self.attributes(of: found)
    case .reference: return reference
    case .persistentReference: return persistentReference
    default: break
    }
    var dictionary = parts.contains(.attributes) ? Self.attributes(of: found) : [:]
    if let data { dictionary[kSecValueData as String] = data }
    if let reference { dictionary[kSecValueRef as String] = reference }
    if parts.contains(.persistentReference) {
      dictionary[kSecValuePersistentRef as String] = persistentReference
    }
    return dictionary
  }

  // MARK: Helpers

  /// The content of an item, of an identity that of the certificate; nil for a password of which only the reference is
  /// asked for, which there is none of, and for an item without data.
  private func content(of found: SecItemSearch.Found) throws -> Data? {
    let record = found.record
    guard request.returns.contains(.data) || record.isReferable else { return nil }
    let data = try data(of: record)
    // The marker says what emptiness means; whoever gave the item content since need not know of it.
    return data.isEmpty && record.attributes[Self.contentName] == Self.noContent ? nil : data
  }

  private func data(of record: ItemRecord) throws -> Data {
    if let known = known[record.place] { return known }
    return try search.secret(of: record)
  }

  /// Returns the object for a certificate, a key or an identity; nil for passwords.
  private func reference(
    to found: SecItemSearch.Found, _ content: Data?
  ) throws -> AnyObject? {
    guard let content, found.record.isReferable else { return nil }
    let reference = try object(of: found, content)
    // Not nil, which stands for success where there is nothing to return.
    guard let reference else { throw SecItemFailure(errSecDecode) }
    return reference
  }

  private func object(of found: SecItemSearch.Found, _ content: Data) throws -> AnyObject? {
    switch found {
    case .item(let record) where record.itemClass == .key:
      return SecKey(record: record.attributes, data: content, itemID: record.id)
    case .item: return SecCertificate(der: content)
    case .identity(_, let key):
      // The index, which joined them, is only a hint: what belongs together tells the content.
      guard let certificate = SecCertificate(der: content),
        let key = SecKey(record: key.attributes, data: try data(of: key), itemID: key.id),
        certificate.publicKeyHash == key.publicKeyHash
      else { return nil }
      return SecIdentity(certificate: certificate, key: key)
    }
  }

  private func persistentReference(to found: SecItemSearch.Found) -> Data {
    switch found {
    case .item(let record): PersistentReference(record).data
    case .identity(let certificate, _): PersistentReference(certificate, isIdentity: true).data
    }
  }

  /// The attributes of an item; of an identity those of both parts, the certificate's where both have one.
  private static func attributes(of found: SecItemSearch.Found) -> [String: Any] {
    switch found {
    case .item(let record): return attributes(of: record)
    case .identity(let certificate, let key):
      var attributes = attributes(of: key).merging(attributes(of: certificate)) { $1 }
      attributes[kSecClass as String] = kSecClassIdentity as String
      return attributes
    }
  }

  /// The attributes under Apple's names, those of the primary key always among them.
  private static func attributes(of record: ItemRecord) -> [String: Any] {
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
    result[kSecAttrAccessible as String] = record.protection
    // Conditions that are not understood are taken, and so shown, for the strictest.
    result[kSecAttrAccessControl as String] =
      record.accessControl ?? SecAccessControl(protection: record.protection, flags: .userPresence)
    return result
  }
}

extension ItemRecord {
  /// A Boolean value that indicates whether an object can represent the item itself.
  fileprivate var isReferable: Bool { itemClass == .certificate || itemClass == .key }
}
