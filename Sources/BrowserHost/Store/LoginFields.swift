package import Keyring
package import KeyringModel
internal import OpenPGP
internal import Secrets

/// The fields of a login.
package struct LoginFields {
  /// The fields, in the order of their creation.
  package let records: [ItemRecord]
  private let group: String

  /// Finds the fields. If items of several groups have the name of the login, these are the ones of its own group.
  ///
  /// - Parameters:
  ///   - login: The item.
  ///   - index: The index.
  /// - Throws: The errors of `Index.find`.
  package init(of login: ItemRecord, in index: Index) throws(KeyringError) {
    group = login.group
    let found = try index.find(.login(of: login)).items
    let isAlone = !found.contains { $0.field == nil && $0.group != login.group }
    records = found.filter { $0.field != nil && (isAlone || $0.group == login.group) }
  }

  /// The field with a name, that of the login's own group first; nil if there is none.
  package subscript(name: String) -> ItemRecord? {
    records.first { $0.field == name && $0.group == group } ?? records.first { $0.field == name }
  }
}

extension Keyring {
  /// Decrypts a field of a login.
  ///
  /// - Returns: The secret; nil if it is encrypted to other people only. The login itself can still be used.
  /// - Throws: All other errors of `secret(for:matching:)`.
  func readableSecret(of field: ItemRecord, login: ItemRecord) throws(KeyringError) -> SecretSlice? {
    do throws(KeyringError) {
      return SecretSlice(try secret(for: field, matching: .fields(of: login)))
    } catch {
      if case .engine(.notARecipient, _) = error { return nil }
      throw error
    }
  }
}
