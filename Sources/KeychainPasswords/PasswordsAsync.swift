public import Foundation

// The async variants of the functions. Each runs on a thread of the queue: the user may take minutes to answer a
// prompt, and no thread of Swift's concurrency may wait for that. A task that is cancelled before its call begins
// throws `taskCancelled`. A call that has begun runs to its end, because a change must not be left half done.

extension Passwords {
  /// Stores a secret, whether or not the item exists, without blocking a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - secret: The bytes, such as `"open sesame".utf8`.
  ///   - item: The name and the description of the item.
  /// - Returns: ``SaveOutcome/added`` if the item is new, otherwise ``SaveOutcome/updated``.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func save<P: PasswordItem>(
    _ secret: some Sequence<UInt8> & Sendable, for item: P
  ) async throws(KeychainError) -> SaveOutcome {
    try await queue.call { () throws(KeychainError) in try save(secret, for: item) }
  }

  /// Stores a secret as a new item without blocking a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - item: The name and the description of the item.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func add<P: PasswordItem>(
    _ secret: some Sequence<UInt8> & Sendable, for item: P
  ) async throws(KeychainError) {
    try await queue.call { () throws(KeychainError) in try add(secret, for: item) }
  }

  /// Changes the attributes of an item but not its secret, without blocking a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - item: The name of the item.
  ///   - changed: The new attributes; an attribute that is nil does not change.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func update<P: PasswordItem>(_ item: P, to changed: P) async throws(KeychainError) {
    try await queue.call { () throws(KeychainError) in try update(item, to: changed) }
  }

  /// Removes an item without blocking a thread of Swift's concurrency.
  ///
  /// - Parameter item: The name of the item.
  /// - Returns: True if the item existed.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func delete<P: PasswordItem>(_ item: P) async throws(KeychainError) -> Bool {
    try await queue.call { () throws(KeychainError) in try delete(item) }
  }

  /// Removes all items of a class that meet conditions, without blocking a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - condition: A condition; one is required, so that no call removes a whole keychain.
  ///   - others: Further conditions, which must also hold.
  /// - Returns: True if any item was removed.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func deleteAll<P: PasswordItem>(
    _ itemClass: P.Type, _ condition: PasswordAttribute<P>, _ others: PasswordAttribute<P>...
  ) async throws(KeychainError) -> Bool {
    try await queue.call { () throws(KeychainError) in try deleteAll(matching: [condition] + others) }
  }

  /// Decrypts the secret of an item without blocking a thread of Swift's concurrency.
  ///
  /// - Parameter item: The name of the item; its details are ignored.
  /// - Returns: The exact bytes; nil if the item does not exist.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func secret<P: PasswordItem>(for item: P) async throws(KeychainError) -> Data? {
    try await queue.call { () throws(KeychainError) in try secret(for: item) }
  }

  /// Decrypts the secret of an item with its attributes, without blocking a thread of Swift's concurrency.
  ///
  /// - Parameter item: The name of the item; its details are ignored.
  /// - Returns: The secret and the attributes at one point in time; nil if the item does not exist.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func secretWithAttributes<P: PasswordItem>(
    for item: P
  ) async throws(KeychainError) -> (secret: Data, attributes: StoredPassword<P>)? {
    try await queue.call { () throws(KeychainError) in try secretWithAttributes(for: item) }
  }

  /// Returns the attributes of an item without its secret. Does not block a thread of Swift's concurrency.
  ///
  /// - Parameter item: The name of the item; its details are ignored.
  /// - Returns: The attributes; nil if the item does not exist.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func attributes<P: PasswordItem>(of item: P) async throws(KeychainError) -> StoredPassword<P>? {
    try await queue.call { () throws(KeychainError) in try attributes(of: item) }
  }

  /// Returns the items of a class that meet all conditions, without blocking a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - conditions: Attributes that must be equal; none for all items of the class.
  /// - Returns: Their attributes; an empty list if there is none.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func list<P: PasswordItem>(
    _ itemClass: P.Type, _ conditions: PasswordAttribute<P>...
  ) async throws(KeychainError) -> [StoredPassword<P>] {
    try await queue.call { () throws(KeychainError) in try list(matching: conditions) }
  }

  /// Stores a value as JSON, whether or not the item exists, without blocking a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - value: Any value that can be encoded; it is encoded in the caller's task.
  ///   - item: The name and the description of the item.
  /// - Returns: ``SaveOutcome/added`` if the item is new, otherwise ``SaveOutcome/updated``.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func save<P: PasswordItem>(
    encoding value: some Encodable & Sendable, for item: P
  ) async throws(KeychainError) -> SaveOutcome {
    try await save(try Self.encode(value), for: item)
  }

  /// Decrypts the secret of an item and decodes a value from its JSON, without blocking a thread of Swift's
  /// concurrency.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - item: The name of the item; its details are ignored.
  /// - Returns: The value; nil if the item does not exist.
  /// - Throws: The errors of the blocking function, and ``KeychainError/taskCancelled``.
  public func value<P: PasswordItem, Value: Decodable & Sendable>(
    _ type: Value.Type, for item: P
  ) async throws(KeychainError) -> Value? {
    guard let secret = try await secret(for: item) else { return nil }
    return try Self.decode(type, secret)
  }
}
