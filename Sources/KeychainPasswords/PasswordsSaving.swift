internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The result of a save.
public enum SaveOutcome: Sendable, Hashable {
  /// The item did not exist before.
  case added
  /// The item existed and now has the new secret.
  case updated
}

extension Passwords {
  /// The number of attempts to save an item that other threads or processes add or remove at the same time.
  ///
  /// Each attempt consists of two calls, and another caller can make its change between them. Threads that wait for the
  /// store take turns, so a thread may lose several attempts in a row. The number is so large that this does not end a
  /// save in practice.
  static let saveAttempts = 128

  /// Stores a secret, whether or not the item exists.
  ///
  /// If threads and processes save the same item at the same time, the result is one item with the secret of one of
  /// them, and no call fails. An existing item keeps each detail that `item` does not specify.
  ///
  /// - Parameters:
  ///   - secret: The bytes, such as `"open sesame".utf8`. The caller has to wipe its own copy.
  ///   - item: The name and the description of the item.
  /// - Returns: ``SaveOutcome/added`` if the item is new, otherwise ``SaveOutcome/updated``.
  /// - Throws: ``KeychainError/ambiguousItem``; ``KeychainError/itemNotFound`` if other processes added and removed the
  ///   item during every attempt; and any other error of the keychain.
  @discardableResult
  public func save<P: PasswordItem>(
    _ secret: some Sequence<UInt8>, for item: P
  ) throws(KeychainError) -> SaveOutcome {
    let data = Data(secret)
    for _ in 0..<Self.saveAttempts {
      // The item is looked up first, because a failed add would already have encrypted the secret.
      if let place = try locate(item) {
        var changes = try description(of: item, over: place.found)
        changes[kSecValueData as String] = data
        let status = functions.update(place.query, changes)
        if status == errSecItemNotFound { continue }
        try check(status)
        return .updated
      }
      do throws(KeychainError) {
        try add(data, for: item)
        return .added
      } catch {
        guard error == .duplicateItem else { throw error }
      }
    }
    throw .itemNotFound
  }

  /// Stores a secret as a new item.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - item: The name and the description of the item.
  /// - Throws: ``KeychainError/duplicateItem`` if the item already exists; nothing has changed then; and any other
  ///   error of the keychain.
  public func add<P: PasswordItem>(_ secret: some Sequence<UInt8>, for item: P) throws(KeychainError) {
    var attributes = try newItem(item)
    attributes[kSecValueData as String] = Data(secret)
    try check(functions.add(attributes))
  }

  /// Changes the attributes of an item but not its secret: renames, describes or moves it.
  ///
  /// - Parameters:
  ///   - item: The name of the item.
  ///   - changed: The new attributes. Only attributes that differ from `item` change. A detail or group that is nil
  ///     does not change, because the keychain cannot remove an attribute; an empty text comes closest to that.
  /// - Throws: ``KeychainError/itemNotFound``; ``KeychainError/duplicateItem`` when another item has the new primary
  ///   key; ``KeychainError/ambiguousItem``; and any other error of the keychain.
  public func update<P: PasswordItem>(_ item: P, to changed: P) throws(KeychainError) {
    guard let place = try locate(item) else { throw .itemNotFound }
    let changes = try changes(from: item, to: changed, over: place.found)
    try check(functions.update(place.query, changes))
  }

  /// Removes an item.
  ///
  /// - Parameter item: The name of the item.
  /// - Returns: True if the item existed.
  /// - Throws: ``KeychainError/ambiguousItem``, and any other error of the keychain.
  @discardableResult
  public func delete<P: PasswordItem>(_ item: P) throws(KeychainError) -> Bool {
    guard try locate(item) != nil else { return false }
    // Without the group that was found: only a caller who names a group removes an item that other people can read.
    return try remove(query(for: item))
  }

  /// Removes all items of a class that meet conditions.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - condition: A condition; one is required, so that no call removes a whole keychain.
  ///   - others: Further conditions, which must also hold.
  /// - Returns: True if any item was removed.
  /// - Throws: ``KeychainError/invalidParameter`` if two conditions contradict each other, and any other error of the
  ///   keychain.
  @discardableResult
  public func deleteAll<P: PasswordItem>(
    _ itemClass: P.Type, _ condition: PasswordAttribute<P>, _ others: PasswordAttribute<P>...
  ) throws(KeychainError) -> Bool {
    try deleteAll(matching: [condition] + others)
  }

  func deleteAll<P: PasswordItem>(matching conditions: [PasswordAttribute<P>]) throws(KeychainError) -> Bool {
    try remove(try query(for: P.self, conditions))
  }

  private func remove(_ query: [String: Any]) throws(KeychainError) -> Bool {
    let status = functions.delete(query)
    if status == errSecItemNotFound { return false }
    try check(status)
    return true
  }
}
