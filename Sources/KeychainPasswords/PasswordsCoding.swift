internal import Foundation

// Values as JSON. The errors of Foundation's coders quote the data, so they are replaced by errors without any content.

extension Passwords {
  /// Stores a value as JSON, with sorted keys, whether or not the item exists.
  ///
  /// The intermediate bytes are not wiped. Use ``save(_:for:)-swift.method`` for a secret that must be wiped.
  ///
  /// - Parameters:
  ///   - value: Any value that can be encoded.
  ///   - item: The name and the description of the item.
  /// - Returns: ``SaveOutcome/added`` if the item is new, otherwise ``SaveOutcome/updated``.
  /// - Throws: ``KeychainError/valueNotEncodable``, and the errors of ``save(_:for:)-swift.method``.
  @discardableResult
  public func save<P: PasswordItem>(
    encoding value: some Encodable, for item: P
  ) throws(KeychainError) -> SaveOutcome {
    try save(try Self.encode(value), for: item)
  }

  /// Decrypts the secret of an item and decodes a value from its JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - item: The name of the item; its details are ignored.
  /// - Returns: The value; nil if the item does not exist.
  /// - Throws: ``KeychainError/valueNotDecodable``, and the errors of ``secret(for:)``.
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
