internal import Foundation
internal import Keyring
internal import Secrets

/// The four functions over a session: what is asked for is checked whole before the store is looked at.
struct SecItemService {
  let session: KeychainSession

  static let shared = SecItemService(session: .shared)

  func add(_ dictionary: CFDictionary) throws(SecItemFailure) -> CFTypeRef? {
    let request = try SecItemRequest(dictionary, for: .add)
    let items = try newItems(request)
    return try session.change(asks: request.interaction == .allow) { keyring throws(SecItemFailure) in
      for item in items where keyring.policy.groups[item.item.group] == nil {
        throw SecItemFailure(errSecMissingEntitlement)
      }
      if items.contains(where: \.needsPassphrase) {
        try keyringStatus { () throws(KeyringError) in try keyring.checkPassphrase() }
      }
      let records = try add(items, to: keyring)
      let results = SecItemResults(request: request, keyring: keyring)
      if request.isIdentity, records.count == 2 {
        return try results.object([SecItemSearch.Identity(certificate: records[0], key: records[1])])
      }
      return try results.object(records)
    }
  }

  func find(_ dictionary: CFDictionary) throws(SecItemFailure) -> CFTypeRef? {
    let request = try SecItemRequest(dictionary, for: .find)
    let keyring = try session.keyring(asks: request.interaction == .allow)
    let search = SecItemSearch(request: request, keyring: keyring)
    let results = SecItemResults(request: request, keyring: keyring)
    return request.isIdentity
      ? try results.object(try search.identities(limit: .one))
      : try results.object(try search.records(limit: .one))
  }

  func update(_ dictionary: CFDictionary, _ attributes: CFDictionary) throws(SecItemFailure) {
    var request = try SecItemRequest(dictionary, for: .update)
    let changes = try SecItemChanges(attributes, of: request)
    // All matches, whatever the limit says.
    request.limit = nil
    let wanted = request
    try session.change(asks: request.interaction == .allow) { keyring throws(SecItemFailure) in
      let records = try SecItemSearch(request: wanted, keyring: keyring).records(limit: .all)
      try changes.apply(to: records, in: keyring)
    }
  }

  func delete(_ dictionary: CFDictionary) throws(SecItemFailure) {
    let request = try SecItemRequest(dictionary, for: .delete)
    try session.change(asks: request.interaction == .allow) { keyring throws(SecItemFailure) in
      let search = SecItemSearch(request: request, keyring: keyring)
      let records =
        request.isIdentity ? try parts(of: search, keyring) : try search.records(limit: .all)
      try keyringStatus { () throws(KeyringError) in try keyring.delete(records) }
    }
  }

  // MARK: Adding

  private struct AddedItem {
    let item: NewItem
    let data: Data
    /// Whether it may be added only where a passphrase protects it.
    let needsPassphrase: Bool
  }

  private func newItems(_ request: SecItemRequest) throws(SecItemFailure) -> [AddedItem] {
    guard request.isIdentity else { return [try newItem(request)] }
    guard let identity = request.reference as? SecIdentity else { throw .parameter }
    var items: [AddedItem] = []
    for (itemClass, own, data) in [
      (.certificate, identity.certificate.itemAttributes, identity.certificate.der),
      (.key, identity.key.itemAttributes, identity.key.externalRepresentation),
    ] as [(ItemClass, Attributes, Data)] {
      var part = request
      part.itemClass = itemClass
      part.attributes = own
      for entry in request.attributes.entries where AttributeSchema.applies(entry.name, to: itemClass) {
        part.attributes[entry.name] = entry.value
      }
      part.data = data
      items.append(try newItem(part))
    }
    return items
  }

  private func newItem(_ request: SecItemRequest) throws(SecItemFailure) -> AddedItem {
    guard let itemClass = request.itemClass else { throw SecItemFailure(errSecInternalComponent) }
    var attributes = request.attributes
    if itemClass == .certificate, request.reference == nil {
      guard let data = request.data, let certificate = SecCertificate(der: data) else { throw .parameter }
      var known = certificate.itemAttributes
      known.merge(attributes)
      attributes = known
    }
    let protection = try protect(&attributes, request, itemClass)
    let isLocal = ItemAttributes.staysHere(protection)
    if request.synchronizable == .yes {
      if isLocal { throw .parameter }
      attributes[.synchronizable] = .boolean(true)
    }
    if request.data == nil { attributes[SecItemResults.contentName] = SecItemResults.noContent }
    let item = NewItem(
      itemClass: itemClass, attributes: attributes, group: request.group ?? session.settings.accessGroup,
      isLocal: isLocal)
    return AddedItem(
      item: item, data: request.data ?? Data(),
      needsPassphrase: SecAccessControl.needsPassphrase(request.accessControl, protection))
  }

  private func protect(
    _ attributes: inout Attributes, _ request: SecItemRequest, _ itemClass: ItemClass
  ) throws(SecItemFailure) -> String {
    if let control = request.accessControl {
      attributes[.accessControl] = .bytes(control.serialized)
      attributes[.accessible] = .string(ItemAttributes.word(for: control.protection, of: .accessible))
      return control.protection
    }
    guard case .string(let word)? = attributes[.accessible] else {
      let protection = ItemAttributes.defaultProtection(of: itemClass)
      attributes[.accessible] = .string(ItemAttributes.word(for: protection, of: .accessible))
      return protection
    }
    return ItemAttributes.code(for: word, of: .accessible)
  }

  private func add(_ items: [AddedItem], to keyring: Keyring) throws(SecItemFailure) -> [ItemRecord] {
    try keyringStatus { () throws(KeyringError) in
      if let only = items.first, items.count == 1 {
        return [try keyring.add(only.item, secret: SecretBytes(copying: only.data))]
      }
      return try keyring.transaction { staged throws(KeyringError) in
        var records: [ItemRecord] = []
        for item in items {
          records.append(try staged.add(item.item, secret: SecretBytes(copying: item.data)))
        }
        return records
      }
    }
  }

  // MARK: Deleting

  /// The certificates of identities, and those of their keys that no other certificate needs.
  private func parts(of search: SecItemSearch, _ keyring: Keyring) throws(SecItemFailure) -> [ItemRecord] {
    let identities = try search.identities(limit: .all)
    let certificates = identities.map(\.certificate)
    let all = try keyringStatus { () throws(KeyringError) in
      try keyring.find(Query(itemClass: .certificate)).items
    }
    let others = all.filter { other in !certificates.contains { $0.id == other.id } }
    var keys: [ItemRecord] = []
    for identity in identities where !keys.contains(where: { $0.id == identity.key.id }) {
      let label = identity.key.attributes[.applicationLabel]
      let isNeeded = others.contains { other in
        label.map { other.attributes[.publicKeyHash]?.isSame(as: $0) == true } ?? false
      }
      if !isNeeded { keys.append(identity.key) }
    }
    return certificates + keys
  }
}
