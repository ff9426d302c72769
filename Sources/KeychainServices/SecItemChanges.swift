internal import Foundation
internal import Keyring
internal import Secrets

/// What an update does to each item.
struct SecItemChanges {
  private var changes = AttributeChanges()
  private var data: Data?
  /// The value of `kSecAttrAccessible` that is set alone, so that the conditions stay.
  private var protection: String?
  private var accessControl: SecAccessControl?

  /// Reads the attributes of an update for items of a class.
  ///
  /// - Throws: `errSecNoSuchAttr` for what is no attribute of an item; as for a request otherwise.
  init(_ dictionary: CFDictionary, of request: SecItemRequest) throws(SecItemFailure) {
    guard let itemClass = request.itemClass else { throw SecItemFailure(errSecUnimplemented) }
    let entries = NSMutableDictionary()
    for (key, value) in dictionary.plainEntries {
      guard let name = (key as? String) ?? (key as? NSString).map({ $0 as String }) else { throw .parameter }
      let isOption = name == "class" || ["r_", "m_", "u_", "v_Ref", "v_Per"].contains { name.hasPrefix($0) }
      if isOption { throw .noSuchAttribute }
      // Times are the store's own to set.
      if name == ItemAttributes.created || name == ItemAttributes.modified {
        guard value is Date else { throw .parameter }
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
      guard wanted.synchronizable != .any else { throw .parameter }
      if wanted.synchronizable == .yes {
        changes.set[.synchronizable] = .boolean(true)
      } else {
        changes.clear.append(.synchronizable)
      }
    }
    try readData(wanted.data, itemClass)
  }

  private mutating func readData(_ data: Data?, _ itemClass: ItemClass) throws(SecItemFailure) {
    guard let data else { return }
    self.data = data
    changes.clear.append(SecItemResults.contentName)
    guard itemClass == .certificate else { return }
    // What a certificate says of itself must be what it says.
    guard let certificate = SecCertificate(der: data) else { throw .parameter }
    var known = certificate.itemAttributes
    known.merge(changes.set)
    changes.set = known
  }

  /// Changes items, all or none.
  func apply(to records: [ItemRecord], in keyring: Keyring) throws(SecItemFailure) {
    var planned: [(record: ItemRecord, changes: AttributeChanges)] = []
    for record in records { planned.append((record, try changes(for: record, in: keyring))) }
    let plan = planned
    try keyringStatus { () throws(KeyringError) in
      if let (record, changes) = plan.first, plan.count == 1 {
        try apply(changes, to: record, in: keyring)
      } else {
        try keyring.transaction { staged throws(KeyringError) in
          for (record, changes) in plan { try apply(changes, to: record, &staged) }
        }
      }
    }
  }

  /// The changes of one item, whose conditions may stay as they are.
  private func changes(
    for record: ItemRecord, in keyring: Keyring
  ) throws(SecItemFailure) -> AttributeChanges {
    var changes = changes
    var control = record.accessControl
    if let accessControl {
      control = accessControl
    } else if let protection, let old = control {
      control = SecAccessControl(protection: protection, flags: old.flags)
    }
    if accessControl != nil || protection != nil {
      // Conditions that a newer version wrote are not ours to carry over, nor to take away.
      guard let control else { throw SecItemFailure(errSecUnimplemented) }
      changes.set[.accessible] = .string(ItemAttributes.word(for: control.protection, of: .accessible))
      if accessControl != nil || record.attributes[.accessControl] != nil {
        changes.set[.accessControl] = .bytes(control.serialized)
      }
      changes.isLocal = ItemAttributes.staysHere(control.protection)
      if SecAccessControl.needsPassphrase(control, control.protection) {
        try keyringStatus { () throws(KeyringError) in try keyring.checkPassphrase() }
      }
    }
    // What stays on this machine is not synchronised, and what somebody has to be asked for is not either.
    let isCleared = changes.clear.contains(.synchronizable)
    let old = isCleared ? nil : record.attributes[.synchronizable]
    if (changes.set[.synchronizable] ?? old) == .boolean(true) {
      if changes.isLocal ?? record.isLocal || control?.flags != [] { throw .parameter }
    }
    return changes
  }

  private func apply(
    _ changes: AttributeChanges, to record: ItemRecord, in keyring: Keyring
  ) throws(KeyringError) {
    if let data {
      try keyring.update(record, changes, secret: SecretBytes(copying: data))
    } else {
      try keyring.update(record, changes)
    }
  }

  private func apply(
    _ changes: AttributeChanges, to record: ItemRecord, _ staged: inout Changes
  ) throws(KeyringError) {
    if let data {
      try staged.update(record, changes, secret: SecretBytes(copying: data))
    } else {
      try staged.update(record, changes)
    }
  }
}
