internal import Foundation
internal import Keyring
internal import Secrets

/// The changes that an update makes to each item.
struct SecItemChanges {
  private var changes = AttributeChanges()
  private var data: Data?
  /// The value of `kSecAttrAccessible` if it is set without an access control, so that the existing conditions stay.
  private var protection: String?
  private var accessControl: SecAccessControl?
  /// A Boolean value that indicates whether keys get new bytes.
  private var isOfKey = false

  /// A Boolean value that indicates whether the items get new content.
  var replacesSecret: Bool { data != nil }

  /// Reads the attributes of an update for items of a class.
  ///
  /// - Throws: `errSecNoSuchAttr` for an entry that is not an attribute of an item; otherwise the errors of a request.
  init(_ dictionary: CFDictionary, of request: SecItemRequest) throws {
    guard let itemClass = request.itemClass else { throw SecItemFailure(errSecUnimplemented) }
    let entries = NSMutableDictionary()
    for (key, value) in dictionary.unbridgedEntries {
      guard let name = (key as? String) ?? (key as? NSString).map({ $0 as String }) else {
        throw SecItemFailure.parameter
      }
      let isOption = name == "class" || ["r_", "m_", "u_", "v_Ref", "v_Per"].contains { name.hasPrefix($0) }
      if isOption { throw SecItemFailure.noSuchAttribute }
      // Only the store sets these times.
      if name == ItemAttributes.created || name == ItemAttributes.modified {
        guard value is Date else { throw SecItemFailure.parameter }
        continue
      }
      entries[name] = value
    }
    entries[kSecClass] = itemClass.code
    let wanted = try SecItemRequest(entries, for: .update)
    changes.set = wanted.attributes
    changes.group = wanted.group
    accessControl = wanted.accessControl
    if accessControl == nil, case .string(let word)? = wanted.attributes[.accessible] {
      protection = ItemAttributes.code(for: word, of: .accessible)
    }
    if entries[kSecAttrSynchronizable as String] != nil {
      guard wanted.synchronizable != .any else { throw SecItemFailure.parameter }
      if wanted.synchronizable == .yes {
        changes.set[.synchronizable] = .boolean(true)
      } else {
        changes.clear.append(.synchronizable)
      }
    }
    try readData(wanted.data, itemClass)
  }

  private mutating func readData(_ data: Data?, _ itemClass: ItemClass) throws {
    guard let data else { return }
    self.data = data
    isOfKey = itemClass == .key
    changes.clear.append(SecItemResults.contentName)
    guard itemClass == .certificate else { return }
    // The attributes of a certificate follow its new content unless the update sets them. The label is kept, because it
    // belongs to the user.
    guard let certificate = SecCertificate(der: data) else { throw SecItemFailure.parameter }
    var known = certificate.itemAttributes
    known[.label] = nil
    known.merge(changes.set)
    changes.set = known
    if known[.subjectKeyID] == nil { changes.clear.append(.subjectKeyID) }
  }

  /// Changes all items or none. Items that other processes have removed since the search are left out.
  ///
  /// - Throws: A failure that reports a missing item if the conditions of an item have changed since the search; the
  ///   caller then has to search again.
  func apply(to records: [ItemRecord], in keyring: Keyring) throws {
    var planned: [(record: ItemRecord, changes: AttributeChanges)] = []
    for record in records { planned.append((record, try changes(for: record))) }
    let plan = planned
    if SecAccessControl.needsPassphrase(accessControl, accessControl?.protection ?? protection ?? "") {
      try keyring.checkPassphrase()
    }
    if let (record, changes) = plan.first, plan.count == 1, !dependsOnItem {
      return try apply(changes, to: record, in: keyring)
    }
    try keyring.transaction { staged throws(KeyringError) in
      for (record, _) in plan where try !staged.hasConditions(of: record) { throw .itemNotFound }
      try SecItemService.forEachExisting(plan) { planned throws(KeyringError) in
        try apply(planned.changes, to: planned.record, &staged)
      }
    }
  }

  private func apply(
    _ changes: AttributeChanges, to record: ItemRecord, in keyring: Keyring
  ) throws {
    if let data {
      let secret = SecretBytes(copying: data)
      try keyring.update(record, changes, secret: secret).keep(secret, in: keyring)
    } else {
      try keyring.update(record, changes)
    }
  }

  private func apply(
    _ changes: AttributeChanges, to record: ItemRecord, _ staged: inout WriteTransaction
  ) throws(KeyringError) {
    if let data {
      try staged.update(record, changes, secret: SecretBytes(copying: data))
    } else {
      try staged.update(record, changes)
    }
  }

  // MARK: One item

  /// A Boolean value that indicates whether the new values depend on the item.
  private var dependsOnItem: Bool {
    accessControl != nil || protection != nil || touchesSynchronizable || isOfKey
  }

  private var touchesSynchronizable: Bool { changes.set[.synchronizable] != nil }

  /// Returns the changes to one item, whose conditions may stay the same.
  private func changes(for record: ItemRecord) throws -> AttributeChanges {
    var changes = changes
    if isOfKey { changes.set = described(record, changes.set) }
    if accessControl == nil, protection == nil {
      if touchesSynchronizable { try checkSynchronizable(changes, record.accessControl, record) }
      return changes
    }
    // Conditions that a newer version wrote cannot be carried over.
    guard let control = accessControl ?? record.accessControl.flatMap(keepingFlags) else {
      throw SecItemFailure(errSecUnimplemented)
    }
    changes.set[.accessible] = .string(ItemAttributes.word(for: control.protection, of: .accessible))
    if accessControl != nil || record.attributes[.accessControl] != nil {
      changes.set[.accessControl] = .bytes(control.serialized)
    }
    changes.isLocal = ItemAttributes.isThisDeviceOnly(control.protection)
    try checkSynchronizable(changes, control, record)
    return changes
  }

  /// Returns the existing conditions with the new protection.
  private func keepingFlags(_ old: SecAccessControl) -> SecAccessControl? {
    SecAccessControl(protection: protection ?? old.protection, flags: old.flags)
  }

  /// Checks that an item that asks the user does not become synchronized.
  private func checkSynchronizable(
    _ changes: AttributeChanges, _ control: SecAccessControl?, _ record: ItemRecord
  ) throws {
    let isCleared = changes.clear.contains(.synchronizable)
    let old = isCleared ? nil : record.attributes[.synchronizable]
    guard (changes.set[.synchronizable] ?? old) == .boolean(true) else { return }
    if let control, control.flags != [] { throw SecItemFailure.parameter }
  }

  /// Adds the attributes that follow from new bytes of a key, if they are a valid key: programs also store other data
  /// there.
  private func described(_ record: ItemRecord, _ set: Attributes) -> Attributes {
    var attributes = record.attributes
    attributes.merge(set)
    guard let data, let key = SecKey(record: attributes, data: data) else { return set }
    var described = Attributes()
    // Only attributes that the item already has: a program that left one out did not want it to be searchable.
    for entry in key.itemAttributes.primaryKey(of: .key).entries where record.attributes[entry.name] != nil {
      described[entry.name] = entry.value
    }
    described.merge(set)
    return described
  }
}

extension WriteTransaction {
  /// Returns true if an item still has the conditions and the place with which it was found, or if it no longer exists.
  fileprivate mutating func hasConditions(of record: ItemRecord) throws(KeyringError) -> Bool {
    do {
      let base = try latest(record)
      return base.isLocal == record.isLocal
        && [.accessControl, .accessible, .synchronizable].allSatisfy { (name: AttributeName) in
          base.attributes[name] == record.attributes[name]
        }
    } catch .itemNotFound {
      return true
    }
  }
}
