public import Foundation
internal import KeyringModel

/// Creates a key from its bytes.
///
/// - Parameters:
///   - keyData: PKCS#1 for RSA keys; X9.63 for elliptic curve keys (`04`, X and Y, followed by the private number for
///     private keys); the raw bytes for symmetric keys.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass` are required; other attributes are ignored, because they
///     follow from the bytes.
///   - error: Receives the reason on failure, with `errSecParam`: an attribute is missing or unknown, or the bytes are
///     not such a key. The mathematical consistency of the numbers is not checked.
/// - Returns: The key, or nil with an error.
public func SecKeyCreateWithData(
  _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  guard let type = SecKeyAttributes.number(kSecAttrKeyType, in: attributes) else {
    unsafe ErrorPointer.report(error, errSecParam, "kSecAttrKeyType is missing or not a key type.")
    return nil
  }
  guard let number = SecKeyAttributes.number(kSecAttrKeyClass, in: attributes),
    let keyClass = KeyMaterial.KeyClass(rawValue: number)
  else {
    unsafe ErrorPointer.report(error, errSecParam, "kSecAttrKeyClass is missing or not a key class.")
    return nil
  }
  let key = unsafe (keyData as Data).withUnsafeBytes {
    unsafe SecKey(type: KeyMaterial.KeyType(number: type), keyClass: keyClass, bytes: $0)
  }
  if key == nil {
    unsafe ErrorPointer.report(error, errSecParam, "The data is not a key of this type and class.")
  }
  return key
}

/// Returns the bytes of a key in the format that ``SecKeyCreateWithData(_:_:_:)`` reads.
///
/// - Parameters:
///   - key: Any key.
///   - error: Never set, because every key here can be exported.
/// - Returns: The bytes. This copy is not wiped.
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  key.externalRepresentation as CFData
}

/// Returns the attributes of a key.
///
/// - Parameter key: Any key.
/// - Returns: The attributes by their `kSecAttr...` keys, with `kSecClass`. The bytes are not included;
///   ``SecKeyCopyExternalRepresentation(_:_:)`` returns them.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
  SecKeyAttributes.dictionary(key.itemAttributes)
}

/// Returns the public half of a key.
///
/// - Parameter key: Any key.
/// - Returns: The public key that a private key contains; a public key itself; nil for a symmetric key.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
  key.publicKey
}

/// Returns the number of bytes that an operation with a key processes at a time.
///
/// - Parameter key: Any key.
/// - Returns: The size of the modulus or of the field in bytes; for a symmetric key, the block size of its cipher.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
  key.material.blockSize
}

/// Returns the type ID of keys.
public func SecKeyGetTypeID() -> CFTypeID {
  SecKey.typeID
}

/// The attributes of keys in the form of Apple's API.
enum SecKeyAttributes {
  /// Returns a number that is given as a number or, like Apple's constants, as a string of digits.
  ///
  /// Reads the original keys and objects: a subscript would first bridge the value to Swift, and would not return for a
  /// collection that contains itself.
  static func number(_ key: CFString, in attributes: CFDictionary) -> Int64? {
    switch attributes.unbridgedEntries.first(where: { ($0.key as? String) == key as String })?.value {
    case let text as String: Int64(text)
    case let number as NSNumber: number as? Int64
    default: nil
    }
  }

  static func dictionary(_ attributes: Attributes) -> CFDictionary {
    let result = NSMutableDictionary()
    result[kSecClass] = kSecClassKey
    for (name, value) in attributes.entries {
      guard let code = ItemAttributes.code(of: name) else { continue }
      switch value {
      // Apple's constants for these two are strings of digits, and programs compare with the constants.
      case .integer(let number) where name == .keyClass || name == .keyType: result[code] = String(number)
      default: result[code] = ItemAttributes.object(value, of: name)
      }
    }
    return result
  }
}
