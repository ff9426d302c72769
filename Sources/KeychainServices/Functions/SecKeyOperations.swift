// What computes with keys. This library stores keys and has no such code: everything here is declared, so that
// programs compile, and fails with errSecUnimplemented.

public import Foundation

/// The operations of keys.
public enum SecKeyOperationType: Int, Sendable {
  /// Make a signature.
  case sign = 0
  /// Check a signature.
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

  /// Takes any name.
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

/// Returns true if a key supports an operation with an algorithm: never.
///
/// - Parameters:
///   - key: Any key.
///   - operation: What it would do.
///   - algorithm: How it would do it.
/// - Returns: `false`, for every key.
public func SecKeyIsAlgorithmSupported(
  _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
  false
}

/// Makes a new key; not implemented.
///
/// - Parameters:
///   - parameters: What kind of key.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: nil. A key that another library made is stored with ``SecKeyCreateWithData(_:_:_:)``.
public func SecKeyCreateRandomKey(
  _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  unsafe reportUnimplemented(error)
  return nil
}

/// Signs; not implemented.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: How to sign.
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

/// Checks a signature; not implemented.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: How it was signed.
///   - signedData: A message or a digest.
///   - signature: The signature.
///   - error: Receives `errSecUnimplemented`.
/// - Returns: `false`: no signature is taken for a good one that was not checked.
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
///   - algorithm: How to encrypt.
///   - plaintext: What to encrypt.
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
///   - algorithm: How it was encrypted.
///   - ciphertext: What to decrypt.
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
///   - privateKey: One's own private key.
///   - algorithm: How to agree.
///   - publicKey: The other's public key.
///   - parameters: Values by the names of ``SecKeyKeyExchangeParameter``.
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
  unsafe ErrorPointer.report(error, errSecUnimplemented, "Keys are stored here, not computed with.")
}
