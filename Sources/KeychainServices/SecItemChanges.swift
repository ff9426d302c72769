internal import Foundation
internal import Keyring
internal import Secrets

/// What an update does to each item.
struct SecItemChanges {
  private(set) var changes = AttributeChanges()
  private(set) var data: Data?
  private(set) var isLocal: Bool?

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
      if name == ItemAttributes.created || name == ItemAttributes.modified { continue }
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
    isLocal = protection.map(ItemAttributes.staysHere)
  }

  /// Changes items, all or none.
  func apply(to records: [ItemRecord], in keyring: Keyring) throws(SecItemFailure) {
    for record in records {
      // An item that stays on this machine is kept elsewhere; moving it there would make another item of it.
      if let isLocal, isLocal != record.isLocal { throw SecItemFailure(errSecUnimplemented) }
    }
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
