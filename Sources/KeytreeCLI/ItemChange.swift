internal import Arguments
internal import Keyring
internal import KeyringModel

/// What becomes of an item that exists: other attributes, and with them perhaps another name.
struct ItemChange {
  /// The item as it was found.
  let record: ItemRecord
  /// What is different.
  let changes: AttributeChanges
  /// Where it will be.
  let path: ItemPath

  /// True when there is nothing to do.
  let isEmpty: Bool

  /// The change that brings an item to the attributes of a draft.
  ///
  /// - Parameters:
  ///   - record: the item that exists.
  ///   - draft: the attributes it shall have, all of them.
  ///   - cleared: attributes that go away in any case.
  init(_ record: ItemRecord, to draft: ItemDraft, clearing cleared: [AttributeName] = []) {
    self.record = record
    var attributes = draft.attributes
    for name in cleared { attributes[name] = nil }
    var set = Attributes()
    for entry in attributes.entries where record.attributes[entry.name] != entry.value {
      set[entry.name] = entry.value
    }
    let gone = record.attributes.names.filter { attributes[$0] == nil }
    let group = draft.group.flatMap { $0 == record.group ? nil : $0 }
    changes = AttributeChanges(set: set, clear: gone, group: group)
    path = ItemPath(
      PrimaryKey(itemClass: record.itemClass, attributes: attributes, group: group ?? record.group))
    isEmpty = set.isEmpty && gone.isEmpty && group == nil
  }

  /// Fails early, before anything is asked or decrypted, when the new name is taken.
  ///
  /// - Throws: `keyring(.itemExists)`.
  func requireFreePath(_ call: CommandCall, in index: Index) throws(Failure) {
    if path != record.path, try call.find(path, in: index) != nil {
      throw .keyring(.itemExists(.path(path)))
    }
  }
}
