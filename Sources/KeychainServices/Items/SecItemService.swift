internal import Foundation
internal import Keyring
internal import Secrets

/// The four functions of a session. A request is checked completely before the store is accessed.
struct SecItemService {
  let session: KeychainSession

  static let shared = SecItemService(session: .shared)

  /// The number of attempts if other processes remove the items that a call has found.
  private static let attempts = 8

  func add(_ dictionary: CFDictionary) throws -> CFTypeRef? {
    let request = try SecItemRequest(dictionary, for: .add)
    let items = try newItems(request)
    return try session.change(asks: request.interaction == .allow) { keyring in
      for item in items where keyring.policy.groups[item.item.group] == nil {
        throw SecItemFailure(errSecMissingEntitlement)
      }
      if group(named: request) == nil { try items.forEach { try requireNewName($0.item, keyring) } }
      if items.contains(where: \.needsPassphrase) {
        try keyring.checkPassphrase()
      }
      let records = try add(items, to: keyring)
      // Nothing is decrypted for the result, so that the call cannot fail after the item was stored.
      let known = zip(records, items).map { ($0.place, $1.data) }
      let results = SecItemResults(
        search: SecItemSearch(request: request, keyring: keyring),
        known: Dictionary(known) { first, _ in first })
      guard request.isIdentity, records.count == 2 else { return try results.object([.item(records[0])]) }
      return try results.object([.identity(certificate: records[0], key: records[1])])
    }
  }

  func find(_ dictionary: CFDictionary) throws -> CFTypeRef? {
    let request = try SecItemRequest(dictionary, for: .find)
    return try again {
      let keyring = try session.keyring(asks: request.interaction == .allow)
      let search = SecItemSearch(request: request, keyring: keyring)
      let matches = try search.matches()
      return try SecItemResults(search: search, known: matches.contents).object(matches.found)
    }
  }

  func update(_ dictionary: CFDictionary, _ attributes: CFDictionary) throws {
    let request = try SecItemRequest(dictionary, for: .update)
    let changes = try SecItemChanges(attributes, of: request)
    try change(request) { keyring, search in
      let records = try search.matches().found.map(\.record)
      if changes.replacesSecret, group(named: request) == nil { try requireOneGroup(records, keyring) }
      try changes.apply(to: records, in: keyring)
    }
  }

  func delete(_ dictionary: CFDictionary) throws {
    let request = try SecItemRequest(dictionary, for: .delete)
    try change(request) { keyring, search in
      let found = cut(try search.matches().found, request.limit)
      let records = request.isIdentity ? try parts(of: found, keyring) : found.map(\.record)
      if group(named: request) == nil { try keyring.requireRemovable(records) }
      try keyring.transaction { staged throws(KeyringError) in
        try Self.forEachExisting(records) { record throws(KeyringError) in try staged.delete(record) }
      }
    }
  }

  /// Searches and makes a change. Repeats both if an item is removed between the search and the change, until the
  /// search finds nothing.
  private func change(
    _ request: SecItemRequest, _ body: (Keyring, SecItemSearch) throws -> Void
  ) throws {
    try session.change(asks: request.interaction == .allow) { keyring in
      let search = SecItemSearch(request: request, keyring: keyring)
      try again { try body(keyring, search) }
    }
  }

  /// Repeats an operation while other processes remove the items that it has found.
  private func again<R>(_ body: () throws -> R) throws -> R {
    for _ in 1..<Self.attempts {
      do {
        return try body()
      } catch {
        guard SecItemFailure(error).isItemMissing else { throw error }
      }
    }
    return try body()
  }

  /// Runs an operation on items, leaving out those that other processes have removed.
  ///
  /// - Throws: `itemNotFound` if no item was left.
  static func forEachExisting<T>(
    _ items: [T], _ body: (T) throws(KeyringError) -> Void
  ) throws(KeyringError) {
    var isAnyThere = false
    for item in items {
      do {
        try body(item)
        isAnyThere = true
      } catch .itemNotFound {
        continue
      }
    }
    if !isAnyThere { throw .itemNotFound }
  }

  private func cut<T>(_ found: [T], _ limit: Query.Limit?) -> [T] {
    switch limit ?? .all {
    case .one: Array(found.prefix(1))
    case .count(let count): Array(found.prefix(count))
    case .all: found
    }
  }

  // MARK: Groups

  /// Returns the group that a request or the settings of the process name; nil for none. A reference names an item, and
  /// so its group.
  private func group(named request: SecItemRequest) -> String? {
    if let group = request.group { return group }
    if request.persistentReference != nil || request.itemList != nil || request.itemID != nil { return "" }
    let group = session.settings.accessGroup
    return group == GroupName.default ? nil : group
  }

  /// Checks that no other group has an item with the name of a new one, which names no group, or for the same account.
  ///
  /// - Throws: `errSecDuplicateItem` for one with the same primary key, whose secret an update replaces in its group;
  ///   `errSecMissingEntitlement` for any other: the program has to name the group.
  private func requireNewName(_ item: NewItem, _ keyring: Keyring) throws {
    let others = try keyring.items(ofOtherGroupsLike: item)
    guard let other = others.first else { return try keyring.requireNewAccount(item) }
    let hasKey = others.count == 1 && PrimaryKey(other, in: "") == PrimaryKey(item, in: "")
    guard hasKey, keyring.policy.groups[other.group]?.contains(keyring.ownFingerprint) == true else {
      throw SecItemFailure(errSecMissingEntitlement)
    }
    throw SecItemFailure(errSecDuplicateItem)
  }

  /// Checks that items which get one new secret have the same readers.
  private func requireOneGroup(_ records: [ItemRecord], _ keyring: Keyring) throws {
    guard let first = records.first else { return }
    guard records.allSatisfy({ $0.group.hasSameBytes(as: first.group) }) else {
      throw KeyringError.shared(.severalGroups, records.map(\.reference))
    }
    for record in records { try keyring.requireReplaceable(record) }
  }

  // MARK: Adding

  private struct AddedItem {
    let item: NewItem
    let data: Data
    /// A Boolean value that indicates whether the item may be added only if a passphrase protects the key.
    let needsPassphrase: Bool
  }

  private func newItems(_ request: SecItemRequest) throws -> [AddedItem] {
    guard request.isIdentity else { return [try newItem(request)] }
    guard let identity = request.reference as? SecIdentity else { throw SecItemFailure.parameter }
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

  private func newItem(_ request: SecItemRequest) throws -> AddedItem {
    guard let itemClass = request.itemClass else { throw SecItemFailure(errSecInternalComponent) }
    var attributes = request.attributes
    if itemClass == .certificate, !(request.reference is SecCertificate), !request.isIdentity {
      guard let data = request.data, let certificate = SecCertificate(der: data) else {
        throw SecItemFailure.parameter
      }
      var known = certificate.itemAttributes
      known.merge(attributes)
      attributes = known
    }
    let protection = try protect(&attributes, request, itemClass)
    let isLocal = ItemAttributes.isThisDeviceOnly(protection)
    // Apple accepts this attribute for items of this device, too. It is then only a part of the primary key.
    if request.synchronizable == .yes { attributes[.synchronizable] = .boolean(true) }
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
  ) throws -> String {
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

  private func add(_ items: [AddedItem], to keyring: Keyring) throws -> [ItemRecord] {
    if let only = items.first, items.count == 1 {
      let secret = SecretBytes(copying: only.data)
      let record = try keyring.add(only.item, secret: secret)
      record.keep(secret, in: keyring)
      return [record]
    }
    return try keyring.transaction { staged throws(KeyringError) in
      var records: [ItemRecord] = []
      for item in items {
        // The certificate of an identity may already exist; the key makes it a new identity.
        if item.item.itemClass == .certificate, let there = try staged.item(like: item.item),
          there.attributes[.publicKeyHash] == item.item.attributes[.publicKeyHash]
        {
          records.append(there)
        } else {
          records.append(try staged.add(item.item, secret: SecretBytes(copying: item.data)))
        }
      }
      return records
    }
  }

  // MARK: Deleting

  /// Returns the certificates of identities, and those of their keys that no other certificate needs.
  private func parts(
    of identities: [SecItemSearch.Found], _ keyring: Keyring
  ) throws -> [ItemRecord] {
    let certificates = identities.map(\.record)
    let all = try keyring.find(Query(itemClass: .certificate))
    // The unreadable part may contain a certificate that needs the key.
    guard all.problems.isEmpty, !all.isIndexLost else { throw SecItemFailure(errSecDecode) }
    let others = all.items.filter { other in !certificates.contains { $0.place == other.place } }
    var keys: [ItemRecord] = []
    for case .identity(_, let key) in identities where !keys.contains(where: { $0.place == key.place }) {
      let label = key.attributes[.applicationLabel]
      let isNeeded = others.contains { other in
        label.map { other.attributes[.publicKeyHash]?.isSame(as: $0) == true } ?? false
      }
      if !isNeeded { keys.append(key) }
    }
    return certificates + keys
  }
}

extension PrimaryKey {
  fileprivate init(_ record: ItemRecord, in group: String) {
    self.init(itemClass: record.itemClass, attributes: record.attributes, group: group)
  }

  fileprivate init(_ item: NewItem, in group: String) {
    self.init(itemClass: item.itemClass, attributes: item.attributes, group: group)
  }
}
