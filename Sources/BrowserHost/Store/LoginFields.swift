package import Keyring
package import KeyringModel
internal import OpenPGP
internal import Secrets

/// The fields of a login.
package struct LoginFields {
  /// The fields, in the order of their creation.
  package let records: [ItemRecord]
  private let login: ItemRecord

  /// Finds the fields. If items of several groups have the name of the login, these are the ones of its own group.
  ///
  /// - Parameters:
  ///   - login: The item.
  ///   - index: The index.
  /// - Throws: The errors of `Index.find`.
  package init(of login: ItemRecord, in index: Index) throws(KeyringError) {
    self.login = login
    let found = try index.find(.login(of: login)).items
    let isAlone = !found.contains { $0.field == nil && $0.group != login.group }
    records = found.filter { $0.field != nil && (isAlone || $0.group == login.group) }
  }

  /// The field with a name; nil if there is none.
  ///
  /// It has the same readers as the login: a member of another group can create a field of that group for any login. Such
  /// a field must neither be sent as part of the login nor receive a new secret.
  package subscript(name: String) -> ItemRecord? {
    records.first { $0.field == name && $0.group == login.group && $0.isLocal == login.isLocal }
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
