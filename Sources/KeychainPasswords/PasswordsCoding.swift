internal import Foundation

// Values as JSON. What a value or a secret holds never gets into an error: those of the coders quote it.

extension Passwords {
  /// Stores a value as JSON, with sorted keys, whether or not the item is there.
  ///
  /// The bytes in between are not wiped: what needs that is stored with ``save(_:for:)-swift.method``.
  ///
  /// - Parameters:
  ///   - value: Any value that can be encoded.
  ///   - item: Names the item, and describes it.
  /// - Returns: Whether the item is new.
  /// - Throws: ``KeychainError/valueNotEncodable``, and as for bytes.
  @discardableResult
  public func save<P: PasswordItem>(
    encoding value: some Encodable, for item: P
  ) throws(KeychainError) -> SaveOutcome {
    try save(try Self.encode(value), for: item)
  }

  /// Decrypts the secret of an item, which is JSON, and makes a value of it.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - item: Names the item; its details do not count.
  /// - Returns: The value; nil when there is no such item.
  /// - Throws: ``KeychainError/valueNotDecodable``, and as ``secret(for:)``.
  public func value<P: PasswordItem, Value: Decodable>(
    _ type: Value.Type, for item: P
  ) throws(KeychainError) -> Value? {
    guard let secret = try secret(for: item) else { return nil }
    return try Self.decode(type, secret)
  }

  static func encode(_ value: some Encodable) throws(KeychainError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return try encoder.encode(value)
    } catch {
      throw .valueNotEncodable
    }
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ secret: Data) throws(KeychainError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: secret)
    } catch {
      throw .valueNotDecodable
    }
  }
}
