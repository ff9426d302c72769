internal import CGcrypt
package import Secrets

/// A function that maps equal secrets to equal digests: HMAC with SHA-256 (RFC 2104) and a random key that exists only
/// in wiped memory.
///
/// A digest discloses nothing about a secret once the key is gone, not even to a program that tries all passwords.
package struct KeyedDigest: ~Copyable, Sendable {
  /// The error of a digest that cannot be computed.
  package struct Failure: Error, Equatable {
    /// The message of libgcrypt.
    package let reason: String
  }

  /// The length of a digest in bytes.
  package static let size = 32

  private let key: SecretBytes

  /// Creates a function with a new random key.
  package init() {
    var generator = SystemRandomNumberGenerator()
    var key = SecretBytes(capacity: Self.size)
    for _ in 0..<Self.size { key.append(UInt8.random(in: 0...255, using: &generator)) }
    self.key = key
  }

  /// Creates a function with a known key, for tests.
  init(key: consuming SecretBytes) { self.key = key }

  /// Computes the digest of a secret. Several threads may call it.
  ///
  /// - Parameter secret: The secret.
  /// - Returns: 32 bytes.
  /// - Throws: `Failure` if libgcrypt cannot compute it, for example because a system policy forbids the function.
  package func digest(of secret: borrowing SecretBytes) throws(Failure) -> SecretBytes {
    precondition(ContentDigest.libraryIsReady, "libgcrypt refused its own header's version")
    var digest = SecretBytes(capacity: Self.size)
    var problem: gcry_error_t = 0
    _ = unsafe digest.append(room: Self.size) { room in
      problem = unsafe authenticate(secret, into: room)
      return Self.size
    }
    guard problem == 0 else {
      // The text is a constant of libgcrypt.
      throw Failure(
        reason: unsafe gcry_strerror(problem).map { unsafe String(cString: $0) } ?? "error \(problem)")
    }
    return digest
  }

  private func authenticate(
    _ secret: borrowing SecretBytes, into room: UnsafeMutableRawBufferPointer
  ) -> gcry_error_t {
    unsafe key.withBytes { key in
      unsafe secret.withBytes { secret in
        // With the flag for HMAC, the first buffer is the key (the manual of libgcrypt, "Working with hash algorithms").
        let parts = unsafe [Self.buffer(key), Self.buffer(secret)]
        return unsafe parts.withUnsafeBufferPointer { parts in
          unsafe gcry_md_hash_buffers(
            CInt(GCRY_MD_SHA256.rawValue), GCRY_MD_FLAG_HMAC.rawValue, room.baseAddress, parts.baseAddress,
            CInt(parts.count))
        }
      }
    }
  }

  /// Describes bytes to libgcrypt, which only reads them.
  private static func buffer(_ bytes: UnsafeRawBufferPointer) -> gcry_buffer_t {
    unsafe gcry_buffer_t(
      size: bytes.count, off: 0, len: bytes.count, data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}
