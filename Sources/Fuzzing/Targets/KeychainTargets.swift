internal import Foundation
internal import KeychainServices

extension FuzzTarget {
  /// The readers of certificates and keys, and of the dictionaries of Apple's keychain functions.
  static let keychainTargets = [
    FuzzTarget("certificate", certificate), FuzzTarget("key", key), FuzzTarget("secitem", secItem),
  ]

  @Sendable private static func certificate(_ bytes: [UInt8]) {
    guard let certificate = SecCertificateCreateWithData(nil, NSData(data: Data(bytes))) else { return }
    expect(
      (SecCertificateCopyData(certificate) as Data).elementsEqual(bytes), "a certificate keeps its bytes")
    _ = SecCertificateCopySubjectSummary(certificate)
    _ = SecCertificateCopyNormalizedIssuerSequence(certificate)
    _ = SecCertificateCopyNormalizedSubjectSequence(certificate)
    _ = SecCertificateCopySerialNumberData(certificate, nil)
    var (name, addresses): (CFString?, CFArray?)
    _ = unsafe SecCertificateCopyCommonName(certificate, &name)
    _ = unsafe SecCertificateCopyEmailAddresses(certificate, &addresses)
    if let key = SecCertificateCopyKey(certificate) {
      expect(SecKeyCopyExternalRepresentation(key, nil) != nil, "a public key has bytes")
    }
  }

  @Sendable private static func key(_ bytes: [UInt8]) {
    let types = [kSecAttrKeyTypeRSA, kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeAES]
    let classes = [kSecAttrKeyClassPublic, kSecAttrKeyClassPrivate, kSecAttrKeyClassSymmetric]
    for type in types {
      for keyClass in classes {
        let attributes: NSDictionary = [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass]
        guard let key = SecKeyCreateWithData(NSData(data: Data(bytes)), attributes, nil) else {
          continue
        }
        let copy = SecKeyCopyExternalRepresentation(key, nil)
        expect(copy.map { ($0 as Data).elementsEqual(bytes) } == true, "a key keeps its bytes")
        _ = SecKeyCopyAttributes(key)
        _ = SecKeyCopyPublicKey(key)
      }
    }
  }

  @Sendable private static func secItem(_ bytes: [UInt8]) {
    // There is no store, so a dictionary that is accepted ends with an error, and nothing is changed.
    _ = settings
    var reader = InputReader(bytes)
    let function = reader.byte()
    let query = dictionary(&reader)
    let changes = dictionary(&reader)
    let first = call(function, query, changes)
    expect(first != errSecSuccess, "nothing succeeds without a store")
    expect(call(function, query, changes) == first, "a dictionary always has the same status")
  }

  private static let settings: Void = {
    KeychainSettings.current = KeychainSettings(environment: [
      "HOME": "/nonexistent", "KEYTREE_NO_INPUT": "1",
    ])
  }()

  private static func call(_ function: UInt8, _ query: NSDictionary, _ changes: NSDictionary) -> OSStatus {
    var result: CFTypeRef?
    switch function % 4 {
    case 0: return unsafe SecItemAdd(query, &result)
    case 1: return SecItemUpdate(query, changes)
    case 2: return SecItemDelete(query)
    default: return unsafe SecItemCopyMatching(query, &result)
    }
  }

  /// Reads entries up to one without a key.
  private static func dictionary(_ reader: inout InputReader) -> NSDictionary {
    let dictionary = NSMutableDictionary()
    for _ in 0..<16 {
      let key = reader.byte()
      if key == 0 { break }
      let name = key == 255 ? reader.text() as NSString : keys[Int(key - 1) % keys.count]
      dictionary[name] = value(&reader, depth: 0)
    }
    return dictionary
  }

  private static func value(_ reader: inout InputReader, depth: Int) -> Any {
    switch reader.byte() % 12 {
    case 0: return values[Int(reader.byte()) % values.count]
    case 1: return reader.text() as NSString
    case 2: return NSData(data: Data(reader.string()))
    case 3: return NSNumber(value: Int64(bitPattern: reader.number()))
    case 4: return NSNumber(value: reader.number())
    case 5: return NSNumber(value: Double(bitPattern: reader.number()))
    case 6: return NSNumber(value: reader.byte() & 1 == 1)
    case 7: return NSDate(timeIntervalSince1970: Double(bitPattern: reader.number()))
    case 8: return NSNull()
    case 9:
      let count = depth < 4 ? Int(reader.byte() % 8) : 0
      let list = NSMutableArray()
      for _ in 0..<count { list.add(value(&reader, depth: depth + 1)) }
      return list
    case 10:
      return depth < 4 ? [reader.text(): value(&reader, depth: depth + 1)] as NSDictionary : NSDictionary()
    default: return NSURL(fileURLWithPath: reader.text())
    }
  }

  /// The keys of a dictionary, by number.
  @safe private nonisolated(unsafe) static let keys: [CFString] = [
    kSecClass, kSecAttrAccount, kSecAttrService, kSecAttrServer, kSecAttrPort, kSecAttrProtocol,
    kSecAttrAuthenticationType, kSecAttrPath, kSecAttrSecurityDomain, kSecAttrLabel, kSecAttrComment,
    kSecAttrDescription, kSecAttrCreator, kSecAttrType, kSecAttrIsInvisible, kSecAttrIsNegative,
    kSecAttrGeneric,
    kSecAttrAccessGroup, kSecAttrAccessible, kSecAttrAccessControl, kSecAttrSynchronizable,
    kSecAttrCreationDate,
    kSecAttrModificationDate, kSecAttrIssuer, kSecAttrSubject, kSecAttrSerialNumber, kSecAttrCertificateType,
    kSecAttrCertificateEncoding, kSecAttrSubjectKeyID, kSecAttrPublicKeyHash, kSecAttrKeyClass,
    kSecAttrKeyType,
    kSecAttrKeySizeInBits, kSecAttrEffectiveKeySize, kSecAttrApplicationLabel, kSecAttrApplicationTag,
    kSecAttrIsPermanent, kSecAttrCanEncrypt, kSecAttrCanSign, kSecValueData, kSecValueRef,
    kSecValuePersistentRef,
    kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef, kSecMatchLimit,
    kSecMatchItemList, kSecMatchIssuers, kSecMatchEmailAddressIfPresent, kSecMatchSubjectContains,
    kSecMatchCaseInsensitive, kSecMatchTrustedOnly, kSecMatchValidOnDate, kSecUseAuthenticationUI,
    kSecUseDataProtectionKeychain, kSecUseAuthenticationContext,
  ]

  /// Values that some key accepts, by number.
  @safe private nonisolated(unsafe) static let values: [CFString] = [
    kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
    kSecClassIdentity,
    kSecAttrProtocolHTTPS, kSecAttrAuthenticationTypeDefault, kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate,
    kSecAttrKeyClassPublic, kSecMatchLimitOne, kSecMatchLimitAll, kSecAttrSynchronizableAny,
    kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    kSecUseAuthenticationUIFail,
    kSecUseAuthenticationUISkip,
  ]
}
