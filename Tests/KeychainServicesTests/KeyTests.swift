import Foundation
import KeyringModel
import Testing

@testable import KeychainServices

/// Tests that keys are imported, distinguished and exported.
@Suite(.serialized)
struct KeyTests {
  private func makeKey(_ bytes: Data, _ type: CFString, _ keyClass: CFString) -> SecKey? {
    attempt(bytes, type, keyClass).result
  }

  private func attempt(
    _ bytes: Data, _ type: CFString, _ keyClass: CFString
  ) -> (result: SecKey?, error: NSError?) {
    // The size is ignored, as by Apple's function.
    let attributes: [String: Any] = [
      kSecAttrKeyType as String: type, kSecAttrKeyClass as String: keyClass,
      kSecAttrKeySizeInBits as String: 1,
    ]
    return takingError { unsafe SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, $0) }
  }

  @Test func `an RSA private key contains its public key`() throws {
    let bytes = try CertificateFixture.bytes("rsa-2048-private.pkcs1")
    let key = try #require(makeKey(bytes, kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate))
    #expect(takingError { unsafe SecKeyCopyExternalRepresentation(key, $0) as Data? }.result == bytes)
    #expect(SecKeyGetBlockSize(key) == 256)
    let publicKey = try #require(SecKeyCopyPublicKey(key))
    let publicBytes = try CertificateFixture.bytes("rsa-2048-public.pkcs1")
    #expect(publicKey.externalRepresentation == publicBytes)
    #expect(publicKey == makeKey(publicBytes, kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic))
    #expect(key.publicKeyHash == CertificateFixture.all[0].keyHash)
    #expect(CFGetTypeID(key) == SecKeyGetTypeID())
  }

  @Test func `a private key of a curve contains its public key`() throws {
    let bytes = try CertificateFixture.bytes("ec-p256-private.x963")
    let key = try #require(makeKey(bytes, kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClassPrivate))
    #expect(SecKeyGetBlockSize(key) == 32)
    #expect(SecKeyCopyPublicKey(key)?.externalRepresentation == bytes.prefix(65))
    #expect(key.publicKeyHash == CertificateFixture.all[1].keyHash)
  }

  @Test func `attributes have Apple's values`() throws {
    let bytes = try CertificateFixture.bytes("ec-p256-private.x963")
    let key = try #require(makeKey(bytes, kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate))
    let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
    #expect(attributes[kSecAttrKeyType as String] as? String == kSecAttrKeyTypeEC as String)
    #expect(attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String)
    #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == 256)
    #expect(attributes[kSecAttrEffectiveKeySize as String] as? Int == 256)
    #expect(attributes[kSecAttrApplicationLabel as String] as? Data == key.publicKeyHash.map { Data($0) })
    #expect(attributes[kSecAttrCanSign as String] as? Bool == true)
    #expect(attributes[kSecAttrCanVerify as String] as? Bool == false)
    #expect(attributes[kSecAttrIsPermanent as String] as? Bool == true)
    #expect(attributes[kSecClass as String] as? String == kSecClassKey as String)
    #expect(attributes.count == key.itemAttributes.count + 1)
    #expect(attributes[kSecValueData as String] == nil)
  }

  @Test func `the attributes and the secret of an item give the same key again`() throws {
    let bytes = try CertificateFixture.bytes("rsa-2048-private.pkcs1")
    let key = try #require(makeKey(bytes, kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate))
    #expect(throws: Never.self) { try AttributeSchema.check(key.itemAttributes, class: .key) }
    #expect(SecKey(record: key.itemAttributes, data: bytes) == key)
    #expect(SecKey(record: [.keyType: "42", .keyClass: "1"], data: bytes) == key)
    #expect(SecKey(record: [:], data: bytes) == nil)
    #expect(SecKey(record: [.keyType: "rsa", .keyClass: 1], data: bytes) == nil)
  }

  @Test(arguments: [
    (kSecAttrKeyTypeAES as String, 16, 16), (kSecAttrKeyTypeAES as String, 32, 16),
    (kSecAttrKeyType3DES as String, 24, 8), (kSecAttrKeyTypeDES as String, 8, 8),
    (kSecAttrKeyTypeRC4 as String, 16, 1),
  ])
  func `a symmetric key has a size and no hash`(type: String, size: Int, block: Int) throws {
    let bytes = Data(repeating: 7, count: size)
    let key = try #require(makeKey(bytes, type as CFString, kSecAttrKeyClassSymmetric))
    #expect(SecKeyGetBlockSize(key) == block)
    #expect(key.itemAttributes[.keySize] == .integer(Int64(size * 8)))
    #expect(key.itemAttributes[.applicationLabel] == nil)
    #expect(SecKeyCopyPublicKey(key) == nil)
    #expect(throws: Never.self) { try AttributeSchema.check(key.itemAttributes, class: .key) }
  }

  @Test(arguments: [24: 192, 28: 224, 32: 256, 48: 384, 66: 521])
  func `the length of a point determines its curve`(size: Int, bits: Int) throws {
    let point = Data([4]) + Data(repeating: 1, count: 2 * size)
    #expect(makeKey(point, kSecAttrKeyTypeEC, kSecAttrKeyClassPublic)?.material.bits == bits)
    let number = Data(repeating: 1, count: size)
    #expect(makeKey(point + number, kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate)?.material.bits == bits)
    #expect(makeKey(point + [1], kSecAttrKeyTypeEC, kSecAttrKeyClassPublic) == nil)
    #expect(makeKey(Data([2]) + point.dropFirst(), kSecAttrKeyTypeEC, kSecAttrKeyClassPublic) == nil)
  }

  @Test func `an invalid key is a bad parameter`() throws {
    let rsa = try CertificateFixture.bytes("rsa-2048-private.pkcs1")
    let cases: [(Data, CFString, CFString)] = [
      (Data(), kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic), (rsa, kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic),
      (rsa, kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate), (rsa, kSecAttrKeyTypeRSA, kSecAttrKeyClassSymmetric),
      (rsa, kSecAttrKeyTypeDSA, kSecAttrKeyClassPrivate), (rsa, "nonsense", kSecAttrKeyClassPrivate),
      (rsa, kSecAttrKeyTypeRSA, "9"), (Data(count: 15), kSecAttrKeyTypeAES, kSecAttrKeyClassSymmetric),
    ]
    for (bytes, type, keyClass) in cases {
      let (key, error) = attempt(bytes, type, keyClass)
      #expect(key == nil)
      #expect(error?.domain == NSOSStatusErrorDomain && error?.code == Int(errSecParam))
    }
    let (key, error) = takingError {
      unsafe SecKeyCreateWithData(rsa as CFData, [:] as CFDictionary, $0)
    }
    #expect(key == nil && error?.code == Int(errSecParam))
  }

  @Test func `functions that compute with keys are reported as not implemented`() throws {
    let bytes = try CertificateFixture.bytes("ec-p256-private.x963")
    let key = try #require(makeKey(bytes, kSecAttrKeyTypeEC, kSecAttrKeyClassPrivate))
    let data = Data([1]) as CFData
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
    let answers: [(result: Any?, error: NSError?)] = [
      takingError { unsafe SecKeyCreateRandomKey([:] as CFDictionary, $0) },
      takingError { unsafe SecKeyCreateSignature(key, algorithm, data, $0) },
      takingError { unsafe SecKeyCreateEncryptedData(key, algorithm, data, $0) },
      takingError { unsafe SecKeyCreateDecryptedData(key, algorithm, data, $0) },
      takingError { unsafe SecKeyCopyKeyExchangeResult(key, algorithm, key, [:] as CFDictionary, $0) },
    ]
    for (result, error) in answers {
      #expect(result == nil)
      #expect(error?.code == Int(errSecUnimplemented))
    }
    let (isGood, error) = takingError { unsafe SecKeyVerifySignature(key, algorithm, data, data, $0) }
    #expect(!isGood && error?.code == Int(errSecUnimplemented))
    #expect(algorithm.rawValue as String == "algid:sign:ECDSA:message-X962:SHA256")
  }

  @Test func `no description shows a key`() throws {
    let key = try #require(
      makeKey(Data(repeating: 65, count: 16), kSecAttrKeyTypeAES, kSecAttrKeyClassSymmetric))
    #expect(String(describing: key) == "<SecKey: type 2147483649, class 2, 128 bits>")
  }

  @Test(arguments: [0, 1, 32, 256, 257, 5000])
  func `random bytes fill exactly the requested count`(count: Int) {
    var bytes = [UInt8](repeating: 0, count: count + 16)
    let status = unsafe SecRandomCopyBytes(kSecRandomDefault, count, &bytes)
    #expect(status == errSecSuccess)
    #expect(bytes.suffix(16).allSatisfy { $0 == 0 })
    if count >= 32 { #expect(bytes[(count - 32)..<count].contains { $0 != 0 }) }
  }

  @Test(arguments: [-1, Int.min, Int.max, Int(Int32.max) + 1])
  func `an impossible count of random bytes is a bad parameter`(count: Int) {
    var byte: UInt8 = 7
    let status = unsafe SecRandomCopyBytes(kSecRandomDefault, count, &byte)
    #expect(status == errSecParam)
    #expect(byte == 7)
  }
}
