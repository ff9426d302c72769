public import Foundation
internal import KeyringModel

/// Makes a key of its bytes.
///
/// - Parameters:
///   - keyData: PKCS#1 for RSA keys. For keys of elliptic curves X9.63: `04`, X and Y, then the private number for
///     private keys. The bytes themselves for symmetric keys.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass` are needed; others are not looked at, as the bytes
///     say the rest.
///   - error: Receives why not, with `errSecParam`: an attribute is missing or unknown, or the bytes are not such a
///     key. That the numbers of a key belong together is not checked.
/// - Returns: The key, or nil with an error.
public func SecKeyCreateWithData(
  _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  guard let type = SecKeyAttributes.number(kSecAttrKeyType, in: attributes) else {
    unsafe ErrorPointer.report(error, errSecParam, "kSecAttrKeyType is missing or no key type.")
    return nil
  }
  guard let number = SecKeyAttributes.number(kSecAttrKeyClass, in: attributes),
    let keyClass = KeyMaterial.KeyClass(rawValue: number)
  else {
    unsafe ErrorPointer.report(error, errSecParam, "kSecAttrKeyClass is missing or no key class.")
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

/// The bytes of a key, in the form that ``SecKeyCreateWithData(_:_:_:)`` reads.
///
/// - Parameters:
///   - key: Any key.
///   - error: Never set; every key here gives its bytes.
/// - Returns: The bytes. This copy is not wiped when it goes.
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  key.externalRepresentation as CFData
}

/// Returns the attributes of a key.
///
/// - Parameter key: Any key.
/// - Returns: Attributes by their `kSecAttr...` keys, with `kSecClass`. The bytes are not among them;
///   ``SecKeyCopyExternalRepresentation(_:_:)`` gives those.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
  SecKeyAttributes.dictionary(key.itemAttributes)
}

/// The public half of a key.
///
/// - Parameter key: Any key.
/// - Returns: The public key that a private key contains; a public key itself; nil for a symmetric key.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
  key.publicKey
}

/// Returns the number of bytes that an operation with a key takes at a time.
///
/// - Parameter key: Any key.
/// - Returns: The bytes of the modulus or of the field; for a symmetric key the block of its cipher.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
  key.material.blockSize
}

/// The number of the type of keys.
public func SecKeyGetTypeID() -> CFTypeID {
  SecKey.typeID
}

/// Attributes of keys in Apple's words.
enum SecKeyAttributes {
  /// A number that is given as a number or, as Apple's constants are, as its digits.
  ///
  /// Looks at keys and objects as they are: a subscript would turn a value into one of Swift first, and not come back
  /// from a collection that holds itself.
  static func number(_ key: CFString, in attributes: CFDictionary) -> Int64? {
    switch attributes.plainEntries.first(where: { ($0.key as? String) == key as String })?.value {
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
      // Apple's constants for these two are strings of digits, and code compares with the constants.
      case .integer(let number) where name == .keyClass || name == .keyType: result[code] = String(number)
      default: result[code] = ItemAttributes.object(value, of: name)
      }
    }
    return result
  }
}
