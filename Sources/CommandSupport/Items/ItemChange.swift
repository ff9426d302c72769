internal import Arguments
package import Keyring
package import KeyringModel
internal import Secrets

/// A change of a login: new attributes of its item. If they change the name or the group, its fields change with it.
package struct ItemChange {
  /// The item as it was found, with its fields.
  package let login: Login
  /// The changed attributes and group.
  package let changes: AttributeChanges
  /// The path of the item after the change.
  package let path: ItemPath

  /// True if nothing changes.
  package let isEmpty: Bool

  /// Creates the change that gives an item the attributes of a draft.
  ///
  /// - Parameters:
  ///   - login: the existing item with its fields.
  ///   - draft: all attributes that the item will have.
  ///   - cleared: attributes that are removed in any case.
  package init(_ login: Login, to draft: ItemDraft, clearing cleared: [AttributeName] = []) {
    self.login = login
    let record = login.item
    var attributes = draft.attributes
    for name in cleared { attributes[name] = nil }
    var set = Attributes()
    for entry in attributes.entries where record.attributes[entry.name] != entry.value {
      set[entry.name] = entry.value
    }
    let gone = record.attributes.names.filter { attributes[$0] == nil }
    let group = draft.group.flatMap { $0 == record.group ? nil : $0 }
    changes = AttributeChanges(set: set, clear: gone, group: group)
    path = changes.path(of: record)
    isEmpty = set.isEmpty && gone.isEmpty && group == nil
  }

  /// Fails early, before any prompt or decryption, if another item already has one of the new names.
  ///
  /// - Throws: `keyring(.itemExists)`.
  package func requireFreePaths(_ call: CommandCall, in index: Index) throws {
    for (record, changes) in [(login.item, changes)] + fieldChanges
    where changes.path(of: record) != record.path {
      try call.requireFree(changes.path(of: record), in: index)
    }
  }

  /// Fails early, before any prompt or decryption, if another item already has one of the names of the copy.
  ///
  /// - Throws: `keyring(.itemExists)`.
  package func requireNewPaths(_ call: CommandCall, in index: Index) throws {
    for (record, changes) in [(login.item, changes)] + login.changes(followingItem: changes) {
      try call.requireFree(changes.path(of: record), in: index)
    }
  }

  /// Changes the item and its fields in one transaction.
  ///
  /// - Parameter secret: the new secret of the item; nil if it does not change.
  /// - Returns: the changed item.
  /// - Throws: the errors of `Keyring.update`.
  package func apply(to keyring: Keyring, secret: SecretSlice? = nil) throws -> ItemRecord {
    let followers = fieldChanges
    return try keyring.transaction { staged throws(KeyringError) in
      for (record, changes) in followers { try staged.update(record, changes) }
      guard let secret else { return try staged.update(login.item, changes) }
      return try staged.update(login.item, changes, secret: secret.copy())
    }
  }

  /// Creates another login with the same secrets and the new attributes, in one transaction.
  ///
  /// - Returns: the item of the copy.
  /// - Throws: the errors of `Keyring.duplicate`.
  package func copy(in keyring: Keyring) throws -> ItemRecord {
    let fields = login.changes(followingItem: changes)
    return try keyring.transaction { staged throws(KeyringError) in
      for (record, changes) in fields { try staged.duplicate(record, as: changes.copy(of: record)) }
      return try staged.duplicate(login.item, as: changes.copy(of: login.item))
    }
  }

  /// The fields that the change moves, each with its own changes.
  private var fieldChanges: [(record: ItemRecord, changes: AttributeChanges)] {
    login.changes(followingItem: changes).filter { record, changes in
      changes.path(of: record) != record.path
    }
  }
}

extension AttributeChanges {
  /// Returns the attributes of an item after these changes.
  private func attributes(of record: ItemRecord) -> Attributes {
    var attributes = record.attributes
    for name in clear { attributes[name] = nil }
    attributes.merge(set)
    return attributes
  }

  /// Returns the path of an item after these changes.
  fileprivate func path(of record: ItemRecord) -> ItemPath {
    ItemPath(
      PrimaryKey(
        itemClass: record.itemClass, attributes: attributes(of: record), group: group ?? record.group))
  }

  /// Returns a new item with these changes.
  fileprivate func copy(of record: ItemRecord) -> NewItem {
    NewItem(
      itemClass: record.itemClass, attributes: attributes(of: record), group: group ?? record.group,
      isLocal: record.isLocal)
  }
}

extension CommandCall {
  /// Fails if an item exists at a path.
  ///
  /// - Throws: `keyring(.itemExists)`.
  fileprivate func requireFree(_ path: ItemPath, in index: Index) throws {
    if try find(path, in: index) != nil { throw KeyringError.itemExists(.path(path)) }
  }
}
