public import Foundation

// The same functions for tasks. Each runs on a thread of the queue: a person who is asked may take minutes, and none
// of Swift's threads waits for that. A task that is cancelled before its call begins throws `taskCancelled`; a call
// that has begun goes on to its end, because half a change cannot be.

extension Passwords {
  /// Stores a secret, whether or not the item is there, and blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - secret: The bytes, such as `"open sesame".utf8`.
  ///   - item: Names the item, and describes it.
  /// - Returns: Whether the item is new.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func save<P: PasswordItem>(
    _ secret: some Sequence<UInt8> & Sendable, for item: P
  ) async throws(KeychainError) -> SaveOutcome {
    try await queue.call { () throws(KeychainError) in try save(secret, for: item) }
  }

  /// Stores a secret as a new item, and blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - item: Names the item, and describes it.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func add<P: PasswordItem>(
    _ secret: some Sequence<UInt8> & Sendable, for item: P
  ) async throws(KeychainError) {
    try await queue.call { () throws(KeychainError) in try add(secret, for: item) }
  }

  /// Changes the attributes of an item and leaves its secret alone, and blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - item: Names the item.
  ///   - changed: What it shall be; what is nil stays as it is.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func update<P: PasswordItem>(_ item: P, to changed: P) async throws(KeychainError) {
    try await queue.call { () throws(KeychainError) in try update(item, to: changed) }
  }

  /// Removes an item, and blocks no thread of Swift's.
  ///
  /// - Parameter item: Names the item.
  /// - Returns: Whether there was one.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func delete<P: PasswordItem>(_ item: P) async throws(KeychainError) -> Bool {
    try await queue.call { () throws(KeychainError) in try delete(item) }
  }

  /// Removes all items of a class that fulfil conditions, and blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - condition: A condition; without any, a whole keychain would go.
  ///   - others: More of them, which must hold as well.
  /// - Returns: Whether there were any.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func deleteAll<P: PasswordItem>(
    _ itemClass: P.Type, _ condition: PasswordAttribute<P>, _ others: PasswordAttribute<P>...
  ) async throws(KeychainError) -> Bool {
    try await queue.call { () throws(KeychainError) in try deleteAll(matching: [condition] + others) }
  }

  /// Decrypts the secret of an item, and blocks no thread of Swift's.
  ///
  /// - Parameter item: Names the item; its details do not count.
  /// - Returns: The exact bytes; nil when there is no such item.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func secret<P: PasswordItem>(for item: P) async throws(KeychainError) -> Data? {
    try await queue.call { () throws(KeychainError) in try secret(for: item) }
  }

  /// Decrypts the secret of an item with its attributes, and blocks no thread of Swift's.
  ///
  /// - Parameter item: Names the item; its details do not count.
  /// - Returns: Secret and attributes of one moment; nil when there is no such item.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func secretWithAttributes<P: PasswordItem>(
    for item: P
  ) async throws(KeychainError) -> (secret: Data, attributes: StoredPassword<P>)? {
    try await queue.call { () throws(KeychainError) in try secretWithAttributes(for: item) }
  }

  /// Returns the attributes of an item without its secret. Blocks no thread of Swift's pool.
  ///
  /// - Parameter item: Names the item; its details do not count.
  /// - Returns: The attributes; nil when there is no such item.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func attributes<P: PasswordItem>(of item: P) async throws(KeychainError) -> StoredPassword<P>? {
    try await queue.call { () throws(KeychainError) in try attributes(of: item) }
  }

  /// The items of a class that fulfil all conditions; blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - itemClass: `GenericPassword.self` or `InternetPassword.self`.
  ///   - conditions: Attributes that must be equal; none for all items of the class.
  /// - Returns: Their attributes; an empty list when there is none.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func list<P: PasswordItem>(
    _ itemClass: P.Type, _ conditions: PasswordAttribute<P>...
  ) async throws(KeychainError) -> [StoredPassword<P>] {
    try await queue.call { () throws(KeychainError) in try list(matching: conditions) }
  }

  /// Stores a value as JSON, whether or not the item is there, and blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - value: Any value that can be encoded; that happens in the caller's task.
  ///   - item: Names the item, and describes it.
  /// - Returns: Whether the item is new.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  @discardableResult
  public func save<P: PasswordItem>(
    encoding value: some Encodable & Sendable, for item: P
  ) async throws(KeychainError) -> SaveOutcome {
    try await save(try Self.encode(value), for: item)
  }

  /// Decrypts the secret of an item, makes a value of its JSON, and blocks no thread of Swift's.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - item: Names the item; its details do not count.
  /// - Returns: The value; nil when there is no such item.
  /// - Throws: As the function that blocks, and ``KeychainError/taskCancelled``.
  public func value<P: PasswordItem, Value: Decodable & Sendable>(
    _ type: Value.Type, for item: P
  ) async throws(KeychainError) -> Value? {
    guard let secret = try await secret(for: item) else { return nil }
    return try Self.decode(type, secret)
  }
}
