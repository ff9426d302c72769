public import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

// A missing item is reported as nil, false or an empty list. Only a change of a missing item throws.

extension Passwords {
  /// Decrypts the secret of an item.
  ///
  /// - Parameter item: The name of the item; its details are ignored.
  /// - Returns: The exact bytes, empty for an item without content; nil if the item does not exist.
  /// - Throws: ``KeychainError/ambiguousItem``; ``KeychainError/userCanceled``, ``KeychainError/interactionNotAllowed``
  ///   or ``KeychainError/authenticationFailed`` if the user had to be asked; ``KeychainError/damaged``; and any other
  ///   error of the keychain.
  public func secret<P: PasswordItem>(for item: P) throws(KeychainError) -> Data? {
    try secretWithAttributes(for: item)?.secret
  }

  /// Decrypts the secret of an item and returns it with the item's attributes.
  ///
  /// - Parameter item: The name of the item; its details are ignored.
  /// - Returns: The secret and the attributes at one point in time; nil if the item does not exist.
  /// - Throws: The errors of ``secret(for:)``.
  public func secretWithAttributes<P: PasswordItem>(
    for item: P
  ) throws(KeychainError) -> (secret: Data, attributes: StoredPassword<P>)? {
    guard var query = try locate(item)?.query else { return nil }
    query[kSecReturnData as String] = true
    query[kSecReturnAttributes as String] = true
    query[kSecMatchLimit as String] = kSecMatchLimitOne as String
    let (status, result) = functions.find(query)
    // The item was removed after the lookup.
    if status == errSecItemNotFound { return nil }
    try check(status)
    guard let entries = result as? [String: Any], let stored = StoredPassword<P>(FoundAttributes(entries))
    else {
      throw .other(errSecInternalComponent)
    }
    return (entries[kSecValueData as String] as? Data ?? Data(), stored)
  }

  /// Returns the attributes of an item without its secret. Decrypts nothing.
  ///
  /// - Parameter item: The name of the item; its details are ignored.
  /// - Returns: The attributes; nil if the item does not exist.
  /// - Throws: ``KeychainError/ambiguousItem``, and any other error of the keychain.
  public func attributes<P: PasswordItem>(of item: P) throws(KeychainError) -> StoredPassword<P>? {
    guard let found = try locate(item)?.found else { return nil }
    guard let stored = StoredPassword<P>(found) else { throw .other(errSecInternalComponent) }
    return stored
  }

  /// Returns the items of a class that meet all conditions, in the keychain's order. Decrypts nothing.
  ///
  /// An item whose primary key is not text is left out, because no name can refer to it.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - conditions: Attributes that must be equal; none for all items of the class. Without a condition on the group,
  ///     ``accessGroup`` applies.
  /// - Returns: Their attributes; an empty list if there is none.
  /// - Throws: ``KeychainError/invalidParameter`` if two conditions contradict each other, and any other error of the
  ///   keychain.
  public func list<P: PasswordItem>(
    _ itemClass: P.Type, _ conditions: PasswordAttribute<P>...
  ) throws(KeychainError) -> [StoredPassword<P>] {
    try list(matching: conditions)
  }

  func list<P: PasswordItem>(
    matching conditions: [PasswordAttribute<P>]
  ) throws(KeychainError) -> [StoredPassword<P>] {
    try attributes(try query(for: P.self, conditions)).compactMap { StoredPassword($0) }
  }
}
