// The functions that compute with keys. This library only stores keys: the functions are declared so that programs
// compile, and they fail with errSecUnimplemented.

public import Foundation

/// The operations of keys.
public enum SecKeyOperationType: Int, Sendable {
  /// Create a signature.
  case sign = 0
  /// Verify a signature.
  case verify = 1
  /// Encrypt.
  case encrypt = 2
  /// Decrypt.
  case decrypt = 3
  /// Agree on a secret with the holder of another key.
  case keyExchange = 4
}

/// The name of a parameter of a key exchange.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
  private let text: String

  /// The name.
  public var rawValue: CFString { text as CFString }

  /// Creates a parameter with any name.
  ///
  /// - Parameter rawValue: The name.
  public init(rawValue: CFString) {
    text = rawValue as String
  }

  /// The requested size in bytes, a number.
  public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
  /// The information that both sides share, as data.
  public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

/// Key: attributes of the private half, as a dictionary, for ``SecKeyCreateRandomKey(_:_:)``.
@safe public nonisolated(unsafe) let kSecPrivateKeyAttrs: CFString = "private"
/// Key: attributes of the public half, as a dictionary, for ``SecKeyCreateRandomKey(_:_:)``.
@safe public nonisolated(unsafe) let kSecPublicKeyAttrs: CFString = "public"

/// Returns false, because no key supports any operation.
///
/// - Parameters:
///   - key: Any key.
///   - operation: Any operation.
///   - algorithm: Any algorithm.
/// - Returns: `false`, for every key.
public func SecKeyIsAlgorithmSupported(
  _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
  false
}

/// Creates a new key; not implemented.
///
/// - Parameters:
///   - parameters: The attributes of the key.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: nil. Use ``SecKeyCreateWithData(_:_:_:)`` for a key that another library has created.
public func SecKeyCreateRandomKey(
  _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  unsafe reportUnimplemented(error)
  return nil
}

/// Creates a signature; not implemented.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: The signature algorithm.
///   - dataToSign: A message or a digest.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: nil.
public func SecKeyCreateSignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  unsafe reportUnimplemented(error)
  return nil
}

/// Verifies a signature; not implemented.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: The signature algorithm.
///   - signedData: A message or a digest.
///   - signature: The signature.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: `false`, because a signature that was not verified must not be accepted.
public func SecKeyVerifySignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
  unsafe reportUnimplemented(error)
  return false
}

/// Encrypts; not implemented.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: The encryption algorithm.
///   - plaintext: The data to encrypt.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: nil.
public func SecKeyCreateEncryptedData(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  unsafe reportUnimplemented(error)
  return nil
}

/// Decrypts; not implemented.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: The encryption algorithm.
///   - ciphertext: The data to decrypt.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: nil.
public func SecKeyCreateDecryptedData(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  unsafe reportUnimplemented(error)
  return nil
}

/// Agrees on a secret; not implemented.
///
/// - Parameters:
///   - privateKey: The caller's private key.
///   - algorithm: The key exchange algorithm.
///   - publicKey: The public key of the other party.
///   - parameters: The parameters, named by ``SecKeyKeyExchangeParameter``.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: nil.
public func SecKeyCopyKeyExchangeResult(
  _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  unsafe reportUnimplemented(error)
  return nil
}

private func reportUnimplemented(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) {
  unsafe ErrorPointer.report(error, errSecUnimplemented, "This library only stores keys.")
}
