public import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

// One way for what is not there: nil, false or an empty list. Only a change of an item that is not there throws.

extension Passwords {
  /// Decrypts the secret of an item.
  ///
  /// - Parameter item: Names the item; its details do not count.
  /// - Returns: The exact bytes, none for an item without content; nil when there is no such item.
  /// - Throws: ``KeychainError/ambiguousItem``; ``KeychainError/userCanceled``,
  ///   ``KeychainError/interactionNotAllowed`` or ``KeychainError/authenticationFailed`` when somebody had to be
  ///   asked; ``KeychainError/damaged``; and whatever the keychain says.
  public func secret<P: PasswordItem>(for item: P) throws(KeychainError) -> Data? {
    try secretWithAttributes(for: item)?.secret
  }

  /// Decrypts the secret of an item, and tells what else the keychain knows of it.
  ///
  /// - Parameter item: Names the item; its details do not count.
  /// - Returns: Secret and attributes of one moment; nil when there is no such item.
  /// - Throws: As ``secret(for:)``.
  public func secretWithAttributes<P: PasswordItem>(
    for item: P
  ) throws(KeychainError) -> (secret: Data, attributes: StoredPassword<P>)? {
    guard var query = try locate(item)?.query else { return nil }
    query[kSecReturnData as String] = true
    query[kSecReturnAttributes as String] = true
    query[kSecMatchLimit as String] = kSecMatchLimitOne as String
    let (status, result) = functions.find(query)
    // Removed since it was looked up.
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
  /// - Parameter item: Names the item; its details do not count.
  /// - Returns: The attributes; nil when there is no such item.
  /// - Throws: ``KeychainError/ambiguousItem``, and whatever the keychain says.
  public func attributes<P: PasswordItem>(of item: P) throws(KeychainError) -> StoredPassword<P>? {
    guard let found = try locate(item)?.found else { return nil }
    guard let stored = StoredPassword<P>(found) else { throw .other(errSecInternalComponent) }
    return stored
  }

  /// The items of a class that fulfil all conditions, in the keychain's order. Decrypts nothing.
  ///
  /// An item whose primary key is not text is left out, because no name means it.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - conditions: Attributes that must be equal; none for all items of the class. Where none is about the group,
  ///     that of ``accessGroup`` is meant.
  /// - Returns: Their attributes; an empty list when there is none.
  /// - Throws: ``KeychainError/invalidParameter`` when two conditions contradict each other, and whatever the
  ///   keychain says.
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
