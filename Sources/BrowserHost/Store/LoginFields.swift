package import Keyring
package import KeyringModel

/// The fields of a login.
package struct LoginFields {
  /// The fields, in the order of their creation.
  package let records: [ItemRecord]

  /// Finds the fields. If items of several groups have the name of the login, these are the ones of its own group.
  ///
  /// - Parameters:
  ///   - login: The item.
  ///   - index: The index.
  /// - Throws: The errors of `Index.find`.
  package init(of login: ItemRecord, in index: Index) throws(KeyringError) {
    let found = try index.find(.login(of: login)).items
    let isAlone = !found.contains { $0.field == nil && $0.group != login.group }
    records = found.filter { $0.field != nil && (isAlone || $0.group == login.group) }
  }

  /// The field with a name; nil if there is none.
  package subscript(name: String) -> ItemRecord? { records.first { $0.field == name } }
}
