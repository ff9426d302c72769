internal import Foundation
internal import Keyring
internal import Secrets

/// What an update does to each item.
struct SecItemChanges {
  private(set) var changes = AttributeChanges()
  private(set) var data: Data?
  /// Whether the items may become what they are to be only where a passphrase protects them.
  private var needsPassphrase = false

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
    data = wanted.data
    if entries[kSecAttrSynchronizable as String] != nil {
      guard wanted.synchronizable != .any else { throw .parameter }
      if wanted.synchronizable == .yes {
        changes.set[.synchronizable] = .boolean(true)
      } else {
        changes.clear.append(.synchronizable)
      }
    }
    try readProtection(wanted)
    if data != nil { changes.clear.append(SecItemResults.contentName) }
  }

  private mutating func readProtection(_ wanted: SecItemRequest) throws(SecItemFailure) {
    var protection: String?
    if case .string(let word)? = wanted.attributes[.accessible] {
      protection = ItemAttributes.code(for: word, of: .accessible)
      if wanted.accessControl == nil { changes.clear.append(.accessControl) }
    }
    if let control = wanted.accessControl {
      protection = control.protection
      changes.set[.accessControl] = .bytes(control.serialized)
      changes.set[.accessible] = .string(ItemAttributes.word(for: control.protection, of: .accessible))
    }
    changes.isLocal = protection.map(ItemAttributes.staysHere)
    needsPassphrase = protection.map { SecAccessControl.needsPassphrase(wanted.accessControl, $0) } ?? false
  }

  /// Changes items, all or none.
  func apply(to records: [ItemRecord], in keyring: Keyring) throws(SecItemFailure) {
    // What stays on this machine is not synchronised.
    for record in records where changes.isLocal ?? record.isLocal {
      let isCleared = changes.clear.contains(.synchronizable)
      let old = isCleared ? nil : record.attributes[.synchronizable]
      if (changes.set[.synchronizable] ?? old) == .boolean(true) { throw .parameter }
    }
    if needsPassphrase { try keyringStatus { () throws(KeyringError) in try keyring.checkPassphrase() } }
    try keyringStatus { () throws(KeyringError) in
      if let record = records.first, records.count == 1 {
        try apply(to: record, in: keyring)
      } else {
        try keyring.transaction { staged throws(KeyringError) in
          for record in records { try apply(to: record, &staged) }
        }
      }
    }
  }

  private func apply(to record: ItemRecord, in keyring: Keyring) throws(KeyringError) {
    if let data {
      try keyring.update(record, changes, secret: SecretBytes(copying: data))
    } else {
      try keyring.update(record, changes)
    }
  }

  private func apply(to record: ItemRecord, _ staged: inout Changes) throws(KeyringError) {
    if let data {
      try staged.update(record, changes, secret: SecretBytes(copying: data))
    } else {
      try staged.update(record, changes)
    }
  }
}
