internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The result of a save.
public enum SaveOutcome: Sendable, Hashable {
  /// There was no such item before.
  case added
  /// The item was there, and has the new secret now.
  case updated
}

extension Passwords {
  /// The number of attempts of a save if others add or remove the item at the same time.
  static let saveAttempts = 16

  /// Stores a secret, whether or not the item is there.
  ///
  /// Threads and processes that save one item at once leave one item with the secret of one of them, and none of
  /// them fails. An item that is there keeps each detail about which `item` says nothing.
  ///
  /// - Parameters:
  ///   - secret: The bytes, such as `"open sesame".utf8`. The caller's copy is the caller's to wipe.
  ///   - item: Names the item, and describes it.
  /// - Returns: Whether the item is new.
  /// - Throws: ``KeychainError/ambiguousItem``; ``KeychainError/itemNotFound`` when the item came and went as often
  ///   as the save was tried; and whatever the keychain says.
  @discardableResult
  public func save<P: PasswordItem>(
    _ secret: some Sequence<UInt8>, for item: P
  ) throws(KeychainError) -> SaveOutcome {
    let data = Data(secret)
    for _ in 0..<Self.saveAttempts {
      // Looked up first, because an item that cannot be added has been encrypted in vain.
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
  ///   - item: Names the item, and describes it.
  /// - Throws: ``KeychainError/duplicateItem`` when it is there already, and nothing has changed then; and whatever
  ///   the keychain says.
  public func add<P: PasswordItem>(_ secret: some Sequence<UInt8>, for item: P) throws(KeychainError) {
    var attributes = try newItem(item)
    attributes[kSecValueData as String] = Data(secret)
    try check(functions.add(attributes))
  }

  /// Changes the attributes of an item and leaves its secret alone: renames, describes or moves it.
  ///
  /// - Parameters:
  ///   - item: Names the item.
  ///   - changed: What it shall be. Only what differs from `item` changes; a detail or group that is nil stays as it
  ///     is, because the keychain cannot take an attribute away. An empty text is the nearest to that.
  /// - Throws: ``KeychainError/itemNotFound``; ``KeychainError/duplicateItem`` when another item has the new primary
  ///   key; ``KeychainError/ambiguousItem``; and whatever the keychain says.
  public func update<P: PasswordItem>(_ item: P, to changed: P) throws(KeychainError) {
    guard let place = try locate(item) else { throw .itemNotFound }
    let changes = try changes(from: item, to: changed, over: place.found)
    try check(functions.update(place.query, changes))
  }

  /// Removes an item.
  ///
  /// - Parameter item: Names the item.
  /// - Returns: Whether there was one.
  /// - Throws: ``KeychainError/ambiguousItem``, and whatever the keychain says.
  @discardableResult
  public func delete<P: PasswordItem>(_ item: P) throws(KeychainError) -> Bool {
    guard let place = try locate(item) else { return false }
    return try remove(place.query)
  }

  /// Removes all items of a class that fulfil conditions.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - condition: A condition; without any, a whole keychain would go.
  ///   - others: More of them, which must hold as well.
  /// - Returns: Whether there were any.
  /// - Throws: ``KeychainError/invalidParameter`` when two conditions contradict each other, and whatever the
  ///   keychain says.
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
