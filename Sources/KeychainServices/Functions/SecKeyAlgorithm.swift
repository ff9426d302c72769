public import Foundation

/// The name of an algorithm; the names are Apple's.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
  private let text: String

  /// The name.
  public var rawValue: CFString { text as CFString }

  /// Creates an algorithm with any name.
  ///
  /// - Parameter rawValue: The name.
  public init(rawValue: CFString) {
    text = rawValue as String
  }

  private init(_ text: String) {
    self.text = "algid:" + text
  }
}

// MARK: RSA signatures

extension SecKeyAlgorithm {
  /// RSA over a raw block, without padding.
  public static let rsaSignatureRaw = SecKeyAlgorithm("sign:RSA:raw")
  /// RSA over a digest with PKCS#1 padding that does not name the hash.
  public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm("sign:RSA:digest-PKCS1v15")
  /// RSA with PKCS#1 padding over a SHA-1 digest.
  public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm("sign:RSA:digest-PKCS1v15:SHA1")
  /// RSA with PKCS#1 padding over a SHA-224 digest.
  public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm("sign:RSA:digest-PKCS1v15:SHA224")
  /// RSA with PKCS#1 padding over a SHA-256 digest.
  public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm("sign:RSA:digest-PKCS1v15:SHA256")
  /// RSA with PKCS#1 padding over a SHA-384 digest.
  public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm("sign:RSA:digest-PKCS1v15:SHA384")
  /// RSA with PKCS#1 padding over a SHA-512 digest.
  public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm("sign:RSA:digest-PKCS1v15:SHA512")
  /// RSA with PSS padding over a SHA-1 digest.
  public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm("sign:RSA:digest-PSS:SHA1:SHA1:20")
  /// RSA with PSS padding over a SHA-224 digest.
  public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm("sign:RSA:digest-PSS:SHA224:SHA224:28")
  /// RSA with PSS padding over a SHA-256 digest.
  public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm("sign:RSA:digest-PSS:SHA256:SHA256:32")
  /// RSA with PSS padding over a SHA-384 digest.
  public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm("sign:RSA:digest-PSS:SHA384:SHA384:48")
  /// RSA with PSS padding over a SHA-512 digest.
  public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm("sign:RSA:digest-PSS:SHA512:SHA512:64")
  /// RSA with PKCS#1 padding over a message hashed with SHA-1.
  public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm("sign:RSA:message-PKCS1v15:SHA1")
  /// RSA with PKCS#1 padding over a message hashed with SHA-224.
  public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm("sign:RSA:message-PKCS1v15:SHA224")
  /// RSA with PKCS#1 padding over a message hashed with SHA-256.
  public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm("sign:RSA:message-PKCS1v15:SHA256")
  /// RSA with PKCS#1 padding over a message hashed with SHA-384.
  public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm("sign:RSA:message-PKCS1v15:SHA384")
  /// RSA with PKCS#1 padding over a message hashed with SHA-512.
  public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm("sign:RSA:message-PKCS1v15:SHA512")
  /// RSA with PSS padding over a message hashed with SHA-1.
  public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm("sign:RSA:message-PSS:SHA1:SHA1:20")
  /// RSA with PSS padding over a message hashed with SHA-224.
  public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm("sign:RSA:message-PSS:SHA224:SHA224:24")
  /// RSA with PSS padding over a message hashed with SHA-256.
  public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm("sign:RSA:message-PSS:SHA256:SHA256:32")
  /// RSA with PSS padding over a message hashed with SHA-384.
  public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm("sign:RSA:message-PSS:SHA384:SHA384:48")
  /// RSA with PSS padding over a message hashed with SHA-512.
  public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm("sign:RSA:message-PSS:SHA512:SHA512:64")
}

// MARK: Elliptic curve signatures

extension SecKeyAlgorithm {
  /// ECDSA over a digest; the signature is the concatenation of the two numbers.
  public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm("sign:ECDSA:RFC4754")
  /// ECDSA over a digest of any hash, in DER.
  public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm("sign:ECDSA:digest-X962")
  /// ECDSA over a SHA-1 digest, in DER.
  public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm("sign:ECDSA:digest-X962:SHA1")
  /// ECDSA over a SHA-224 digest, in DER.
  public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm("sign:ECDSA:digest-X962:SHA224")
  /// ECDSA over a SHA-256 digest, in DER.
  public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm("sign:ECDSA:digest-X962:SHA256")
  /// ECDSA over a SHA-384 digest, in DER.
  public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm("sign:ECDSA:digest-X962:SHA384")
  /// ECDSA over a SHA-512 digest, in DER.
  public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm("sign:ECDSA:digest-X962:SHA512")
  /// ECDSA over a message hashed with SHA-1, in DER.
  public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm("sign:ECDSA:message-X962:SHA1")
  /// ECDSA over a message hashed with SHA-224, in DER.
  public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm("sign:ECDSA:message-X962:SHA224")
  /// ECDSA over a message hashed with SHA-256, in DER.
  public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm("sign:ECDSA:message-X962:SHA256")
  /// ECDSA over a message hashed with SHA-384, in DER.
  public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm("sign:ECDSA:message-X962:SHA384")
  /// ECDSA over a message hashed with SHA-512, in DER.
  public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm("sign:ECDSA:message-X962:SHA512")
}

// MARK: Encryption with RSA

extension SecKeyAlgorithm {
  /// RSA over a raw block, without padding.
  public static let rsaEncryptionRaw = SecKeyAlgorithm("encrypt:RSA:raw")
  /// RSA with PKCS#1 padding.
  public static let rsaEncryptionPKCS1 = SecKeyAlgorithm("encrypt:RSA:PKCS1")
  /// RSA with OAEP padding and SHA-1.
  public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA1")
  /// RSA with OAEP padding and SHA-224.
  public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA224")
  /// RSA with OAEP padding and SHA-256.
  public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA256")
  /// RSA with OAEP padding and SHA-384.
  public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA384")
  /// RSA with OAEP padding and SHA-512.
  public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA512")
  /// AES-GCM with a key that RSA wraps with OAEP padding and SHA-1.
  public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA1:AESGCM")
  /// AES-GCM with a key that RSA wraps with OAEP padding and SHA-224.
  public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA224:AESGCM")
  /// AES-GCM with a key that RSA wraps with OAEP padding and SHA-256.
  public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA256:AESGCM")
  /// AES-GCM with a key that RSA wraps with OAEP padding and SHA-384.
  public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA384:AESGCM")
  /// AES-GCM with a key that RSA wraps with OAEP padding and SHA-512.
  public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm("encrypt:RSA:OAEP:SHA512:AESGCM")
}

// MARK: Encryption with elliptic curves

extension SecKeyAlgorithm {
  /// AES-GCM with a key derived by ECDH and X9.63 with SHA-1.
  public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
  /// AES-GCM with a key derived by ECDH and X9.63 with SHA-224.
  public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
  /// AES-GCM with a key derived by ECDH and X9.63 with SHA-256.
  public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
  /// AES-GCM with a key derived by ECDH and X9.63 with SHA-384.
  public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
  /// AES-GCM with a key derived by ECDH and X9.63 with SHA-512.
  public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
  /// AES-GCM with a key and an initialization vector derived by ECDH and X9.63 with SHA-224.
  public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
  /// AES-GCM with a key and an initialization vector derived by ECDH and X9.63 with SHA-256.
  public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
  /// AES-GCM with a key and an initialization vector derived by ECDH and X9.63 with SHA-384.
  public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
  /// AES-GCM with a key and an initialization vector derived by ECDH and X9.63 with SHA-512.
  public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
  /// AES-GCM with a key derived by ECDH with cofactor and X9.63 with SHA-1.
  public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
  /// AES-GCM with a key derived by ECDH with cofactor and X9.63 with SHA-224.
  public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
  /// AES-GCM with a key derived by ECDH with cofactor and X9.63 with SHA-256.
  public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
  /// AES-GCM with a key derived by ECDH with cofactor and X9.63 with SHA-384.
  public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
  /// AES-GCM with a key derived by ECDH with cofactor and X9.63 with SHA-512.
  public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
  /// AES-GCM with a key and an initialization vector derived by ECDH with cofactor and X9.63 with SHA-224.
  public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
  /// AES-GCM with a key and an initialization vector derived by ECDH with cofactor and X9.63 with SHA-256.
  public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
  /// AES-GCM with a key and an initialization vector derived by ECDH with cofactor and X9.63 with SHA-384.
  public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
  /// AES-GCM with a key and an initialization vector derived by ECDH with cofactor and X9.63 with SHA-512.
  public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
    "encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")
}

// MARK: Key exchange

extension SecKeyAlgorithm {
  /// ECDH without key derivation.
  public static let ecdhKeyExchangeStandard = SecKeyAlgorithm("keyexchange:ECDH")
  /// ECDH with cofactor, without key derivation.
  public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm("keyexchange:ECDHC")
  /// ECDH and X9.63 with SHA-1.
  public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm("keyexchange:ECDH:KDFX963:SHA1")
  /// ECDH and X9.63 with SHA-224.
  public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm("keyexchange:ECDH:KDFX963:SHA224")
  /// ECDH and X9.63 with SHA-256.
  public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm("keyexchange:ECDH:KDFX963:SHA256")
  /// ECDH and X9.63 with SHA-384.
  public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm("keyexchange:ECDH:KDFX963:SHA384")
  /// ECDH and X9.63 with SHA-512.
  public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm("keyexchange:ECDH:KDFX963:SHA512")
  /// ECDH with cofactor and X9.63 with SHA-1.
  public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm("keyexchange:ECDHC:KDFX963:SHA1")
  /// ECDH with cofactor and X9.63 with SHA-224.
  public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm("keyexchange:ECDHC:KDFX963:SHA224")
  /// ECDH with cofactor and X9.63 with SHA-256.
  public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm("keyexchange:ECDHC:KDFX963:SHA256")
  /// ECDH with cofactor and X9.63 with SHA-384.
  public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm("keyexchange:ECDHC:KDFX963:SHA384")
  /// ECDH with cofactor and X9.63 with SHA-512.
  public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm("keyexchange:ECDHC:KDFX963:SHA512")
}
