internal import CGcrypt
internal import Encoding
package import Secrets

/// The key of a session with the algorithm `dh-ietf1024-sha256-aes128-cbc-pkcs7`. It is wiped with the last copy of the
/// session.
package final class SessionKey: Sendable {
  /// The size of a block of the cipher, and of an initialization vector.
  package static let blockSize = 16

  private let key: SecretBytes

  /// Takes ownership of a key.
  ///
  /// - Parameter key: 16 bytes.
  package init(_ key: consuming SecretBytes) { self.key = key }

  /// The key, for tests.
  var copy: SecretBytes { key.copy() }

  /// The kinds of ciphertext that are not the encryption of a secret. They are reported as one, so that the answers to
  /// changed messages reveal nothing about the secret.
  struct InvalidMessage: Error {}

  /// Encrypts a secret with AES-128-CBC and PKCS #7 padding.
  ///
  /// - Parameters:
  ///   - secret: The secret, which may be empty.
  ///   - vector: The initialization vector, 16 bytes that were never used with this key.
  /// - Returns: The ciphertext.
  /// - Throws: ``GcryptFailure``.
  package func encrypt(_ secret: borrowing SecretBytes, vector: [UInt8]) throws -> SecretBytes {
    let padding = Self.blockSize - secret.count % Self.blockSize
    var block = SecretBytes(capacity: secret.count + padding)
    block.append(secret)
    for _ in 0..<padding { block.append(UInt8(padding)) }
    return try unsafe run(block, vector: vector) { cipher, output, input in
      unsafe gcry_cipher_encrypt(cipher, output.baseAddress, output.count, input.baseAddress, input.count)
    }
  }

  /// Decrypts a message of a client.
  ///
  /// - Parameters:
  ///   - message: The ciphertext.
  ///   - vector: The initialization vector.
  /// - Returns: The secret.
  /// - Throws: ``InvalidMessage``, ``GcryptFailure``.
  package func decrypt(_ message: borrowing SecretBytes, vector: [UInt8]) throws -> SecretBytes {
    guard vector.count == Self.blockSize, !message.isEmpty, message.count % Self.blockSize == 0 else {
      throw InvalidMessage()
    }
    var secret = try unsafe run(message, vector: vector) { cipher, output, input in
      unsafe gcry_cipher_decrypt(cipher, output.baseAddress, output.count, input.baseAddress, input.count)
    }
    let padding = unsafe secret.withBytes { unsafe Int($0.last ?? 0) }
    guard (1...Self.blockSize).contains(padding), padding <= secret.count else { throw InvalidMessage() }
    let isPadded = unsafe secret.withBytes { bytes in
      unsafe bytes.suffix(padding).allSatisfy { $0 == UInt8(padding) }
    }
    guard isPadded else { throw InvalidMessage() }
    secret.truncate(to: secret.count - padding)
    return secret
  }

  private func run(
    _ input: borrowing SecretBytes, vector: [UInt8],
    _ operation: (gcry_cipher_hd_t, UnsafeMutableRawBufferPointer, UnsafeRawBufferPointer) -> gcry_error_t
  ) throws -> SecretBytes {
    var opened: gcry_cipher_hd_t?
    try GcryptFailure.check(
      unsafe gcry_cipher_open(
        &opened, CInt(GCRY_CIPHER_AES.rawValue), CInt(GCRY_CIPHER_MODE_CBC.rawValue),
        GCRY_CIPHER_SECURE.rawValue))
    guard let cipher = unsafe opened else { throw GcryptFailure(reason: "no cipher") }
    defer { unsafe gcry_cipher_close(cipher) }
    try GcryptFailure.check(
      unsafe key.withBytes { unsafe gcry_cipher_setkey(cipher, $0.baseAddress, $0.count) })
    try GcryptFailure.check(
      unsafe vector.withUnsafeBytes { unsafe gcry_cipher_setiv(cipher, $0.baseAddress, $0.count) })
    var output = SecretBytes(capacity: input.count)
    var code: gcry_error_t = 0
    let count = input.count
    _ = unsafe output.append(room: count) { room in
      code = unsafe input.withBytes { unsafe operation(cipher, room, $0) }
      return count
    }
    try GcryptFailure.check(code)
    return output
  }
}

/// An error of libgcrypt.
struct GcryptFailure: Error {
  /// The message of libgcrypt, a constant.
  let reason: String

  /// Throws if a code is not 0.
  static func check(_ code: gcry_error_t) throws {
    guard code != 0 else { return }
    throw GcryptFailure(
      reason: unsafe gcry_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)")
  }
}
