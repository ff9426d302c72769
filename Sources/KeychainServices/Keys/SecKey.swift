internal import Encoding
public import Foundation
internal import KeyringModel
internal import Secrets

/// A cryptographic key: public, private or symmetric.
///
/// Its bytes are wiped when it is deallocated. Two keys are equal if type, class and bytes are equal. This library only
/// stores keys; the functions that compute with them exist but fail with `errSecUnimplemented`.
public final class SecKey: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked because of NSObject; all properties are constant.
  static let typeID: CFTypeID = 0x4B02

  let material: KeyMaterial
  /// The item from which the key was read; nil for a key that a program has created.
  let itemID: ItemID?
  private let secret: SecretBytes

  /// Creates a key from bytes.
  ///
  /// - Parameters:
  ///   - type: The algorithm.
  ///   - keyClass: The class of the key.
  ///   - bytes: The key in the format of ``KeyMaterial``; copied.
  /// - Returns: nil if the bytes are not such a key.
  init?(type: KeyMaterial.KeyType, keyClass: KeyMaterial.KeyClass, bytes: UnsafeRawBufferPointer) {
    guard let material = unsafe KeyMaterial(type: type, keyClass: keyClass, bytes: bytes) else { return nil }
    self.material = material
    itemID = nil
    secret = unsafe SecretBytes(copying: bytes)
  }

  /// Creates a key from an item of a store.
  ///
  /// - Parameters:
  ///   - record: The attributes of a key item, of which `keyType` and `keyClass` are read.
  ///   - data: The item's secret.
  ///   - itemID: The id of the item.
  /// - Returns: nil if the secret is not such a key.
  convenience init?(record: Attributes, data: Data, itemID: ItemID? = nil) {
    guard let type = Self.number(record[.keyType]), let number = Self.number(record[.keyClass]),
      let keyClass = KeyMaterial.KeyClass(rawValue: number)
    else { return nil }
    let key = unsafe data.withUnsafeBytes {
      unsafe SecKey(type: KeyMaterial.KeyType(number: type), keyClass: keyClass, bytes: $0)
    }
    guard let key else { return nil }
    self.init(copying: key, itemID: itemID)
  }

  private init(copying key: SecKey, itemID: ItemID?) {
    material = key.material
    self.itemID = itemID
    secret = key.secret.copy()
  }

  /// A copy of the bytes of the key, which is not wiped.
  var externalRepresentation: Data {
    unsafe secret.withBytes { unsafe Data($0) }
  }

  /// Returns true if the other object is the same key.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecKey else { return false }
    return material.type == other.material.type && material.keyClass == other.material.keyClass
      && secret.isEqual(to: other.secret)
  }

  /// The hash value, which is the same for equal keys. It reveals nothing about a secret.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(material.type)
    hasher.combine(material.keyClass)
    hasher.combine(material.bits)
    hasher.combine(material.publicKey)
    return hasher.finalize()
  }

  /// The type, class and size of the key; never its bytes.
  public override var description: String {
    "<SecKey: type \(material.type.number), class \(material.keyClass.rawValue), \(material.bits) bits>"
  }

  /// Returns a number of the primary key, which is zero if it is missing.
  private static func number(_ value: AttributeValue?) -> Int64? {
    guard let value else { return 0 }
    guard case .integer(let number) = AttributeSchema.normalized(name: .keyType, value: value) else {
      return nil
    }
    return number
  }
}

// MARK: Keychain attributes

extension SecKey {
  /// The attributes that a store keeps beside the bytes, as Apple's keychain sets them.
  ///
  /// A symmetric key has no application label, because the hash of a secret would be public.
  var itemAttributes: Attributes {
    let isPrivate = material.keyClass == .privateKey
    let isPublic = material.keyClass == .publicKey
    let isSymmetric = material.keyClass == .symmetric
    var attributes: Attributes = [
      .keyClass: .integer(material.keyClass.rawValue),
      .keyType: .integer(material.type.number),
      .keySize: .integer(Int64(material.bits)),
      .effectiveKeySize: .integer(Int64(material.bits)),
      .permanent: true,
      .private: .boolean(isPrivate),
      .modifiable: true,
      .sensitive: false,
      .alwaysSensitive: false,
      .extractable: true,
      .neverExtractable: false,
      .canEncrypt: .boolean(isPublic || isSymmetric),
      .canDecrypt: .boolean(isPrivate || isSymmetric),
      .canDerive: .boolean(!isSymmetric),
      .canSign: .boolean(isPrivate),
      .canVerify: .boolean(isPublic),
      .canSignRecover: false,
      .canVerifyRecover: false,
      .canWrap: .boolean(isPublic || isSymmetric),
      .canUnwrap: .boolean(isPrivate || isSymmetric),
    ]
    attributes[.applicationLabel] = publicKeyHash.map(AttributeValue.bytes)
    return attributes
  }

  /// The SHA-1 of the public half; nil for a symmetric key.
  var publicKeyHash: [UInt8]? { material.publicKey.map(SHA1.digest(of:)) }

  /// The public half of a private key, or a public key itself; nil for a symmetric key.
  var publicKey: SecKey? {
    if material.keyClass == .publicKey { return self }
    return unsafe material.publicKey?.withUnsafeBytes {
      unsafe SecKey(type: material.type, keyClass: .publicKey, bytes: $0)
    }
  }
}
