internal import Foundation
internal import Keyring

/// Converts items to the objects that a call returns.
struct SecItemResults {
  let search: SecItemSearch
  /// The content of items that the call has received or already decrypted.
  var known: [ItemPlace: Data] = [:]

  private var request: SecItemRequest { search.request }

  /// The marker of an item that was added without data, which is not the same as empty data.
  static let contentName = AttributeName("content")
  static let noContent = AttributeValue.string("none")

  /// Returns the result of a call: one object, or an array of them if more than one item was asked for.
  ///
  /// - Parameter found: The items, at least one.
  /// - Returns: nil if no result was requested, or if there is nothing to return.
  /// - Throws: `errSecItemNotFound` if all items were left out because the user must not be asked.
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
        // A missing item does not fail the call, so that the user is not asked again for the others.
        let failure = SecItemFailure(error)
        if failure.isItemMissing { gone = failure }
        guard request.skips(failure) || failure.isItemMissing else { throw failure }
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

  /// Returns the content of an item, or of the certificate of an identity. Returns nil for an item without data, and
  /// for a password if only the reference is requested, because passwords have no reference object.
  private func content(of found: SecItemSearch.Found) throws -> Data? {
    let record = found.record
    guard request.returns.contains(.data) || record.isReferable else { return nil }
    let data = try data(of: record)
    // The marker applies only to empty data, because a program that does not know the marker may have added content.
    return data.isEmpty && record.attributes[Self.contentName] == Self.noContent ? nil : data
  }

  private func data(of record: ItemRecord) throws -> Data {
    // Computing the place takes longer than the rest, and a call for passwords knows no content.
    if !known.isEmpty, let known = known[record.place] { return known }
    return try search.secret(of: record)
  }

  /// Returns the object for a certificate, a key or an identity; nil for passwords.
  private func reference(
    to found: SecItemSearch.Found, _ content: Data?
  ) throws -> AnyObject? {
    guard let content, found.record.isReferable else { return nil }
    let reference = try object(of: found, content)
    // Throw instead of returning nil, which would mean success without a result.
    guard let reference else { throw SecItemFailure(errSecDecode) }
    return reference
  }

  private func object(of found: SecItemSearch.Found, _ content: Data) throws -> AnyObject? {
    switch found {
    case .item(let record) where record.itemClass == .key:
      return SecKey(record: record.attributes, data: content, itemID: record.id)
    case .item: return SecCertificate(der: content)
    case .identity(_, let key):
      // The index, which matched them, is only a hint; the content decides whether they belong together.
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

  /// Returns the attributes of an item, or of both parts of an identity. If both parts have an attribute, it is the
  /// certificate's.
  private static func attributes(of found: SecItemSearch.Found) -> [String: Any] {
    switch found {
    case .item(let record): return attributes(of: record)
    case .identity(let certificate, let key):
      var attributes = attributes(of: key).merging(attributes(of: certificate)) { $1 }
      attributes[kSecClass as String] = kSecClassIdentity as String
      return attributes
    }
  }

  /// Returns the attributes under Apple's names, always including those of the primary key.
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
    // Conditions that cannot be read are treated as the strictest ones, and shown as such.
    result[kSecAttrAccessControl as String] =
      record.accessControl ?? SecAccessControl(protection: record.protection, flags: .userPresence)
    return result
  }
}

extension ItemRecord {
  /// A Boolean value that indicates whether an object can represent the item itself.
  fileprivate var isReferable: Bool { itemClass == .certificate || itemClass == .key }
}
