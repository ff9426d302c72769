internal import Encoding
public import Foundation
internal import KeyringModel
internal import Secrets

/// A cryptographic key: public, private or symmetric.
///
/// Its bytes are wiped when it goes. Two are equal when type, class and bytes are. This library keeps keys; the
/// functions that compute with them exist, and fail with `errSecUnimplemented`.
public final class SecKey: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked, because of NSObject; everything here is constant.
  static let typeID: CFTypeID = 0x4B02

  let material: KeyMaterial
  /// The item that it was read from; nil for one that a program has made.
  let itemID: ItemID?
  private let secret: SecretBytes

  /// Makes a key of bytes.
  ///
  /// - Parameters:
  ///   - type: The algorithm.
  ///   - keyClass: Which half of a pair, or symmetric.
  ///   - bytes: The key in the form of ``KeyMaterial``; copied.
  /// - Returns: nil when the bytes are not such a key.
  init?(type: KeyMaterial.KeyType, keyClass: KeyMaterial.KeyClass, bytes: UnsafeRawBufferPointer) {
    guard let material = unsafe KeyMaterial(type: type, keyClass: keyClass, bytes: bytes) else { return nil }
    self.material = material
    itemID = nil
    secret = unsafe SecretBytes(copying: bytes)
  }

  /// Makes a key of what a store holds.
  ///
  /// - Parameters:
  ///   - record: The attributes of an item of the class of keys: `keyType` and `keyClass` are read.
  ///   - data: The item's secret.
  ///   - itemID: The item.
  /// - Returns: nil when the secret is not such a key.
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

  /// The bytes of the key. The copy is the caller's, and not wiped.
  var externalRepresentation: Data {
    unsafe secret.withBytes { unsafe Data($0) }
  }

  /// Returns true if the other object is the same key.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecKey else { return false }
    return material.type == other.material.type && material.keyClass == other.material.keyClass
      && secret.isEqual(to: other.secret)
  }

  /// A number that equal keys have in common; it tells nothing about a secret.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(material.type)
    hasher.combine(material.keyClass)
    hasher.combine(material.bits)
    hasher.combine(material.publicKey)
    return hasher.finalize()
  }

  /// The kind of key and its size; never its bytes.
  public override var description: String {
    "<SecKey: type \(material.type.number), class \(material.keyClass.rawValue), \(material.bits) bits>"
  }

  /// A missing number of a primary key is zero.
  private static func number(_ value: AttributeValue?) -> Int64? {
    guard let value else { return 0 }
    guard case .integer(let number) = AttributeSchema.normalized(name: .keyType, value: value) else {
      return nil
    }
    return number
  }
}

// MARK: What a keychain knows about it

extension SecKey {
  /// The attributes that a store keeps beside the bytes, as Apple's keychain sets them.
  ///
  /// A symmetric key has no application label: a hash of a secret would be readable by everybody.
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

  /// SHA-1 of the public half; nil for a symmetric key.
  var publicKeyHash: [UInt8]? { material.publicKey.map(SHA1.digest(of:)) }

  /// The public half; a public key itself; nil for a symmetric key.
  var publicKey: SecKey? {
    if material.keyClass == .publicKey { return self }
    return unsafe material.publicKey?.withUnsafeBytes {
      unsafe SecKey(type: material.type, keyClass: .publicKey, bytes: $0)
    }
  }
}
