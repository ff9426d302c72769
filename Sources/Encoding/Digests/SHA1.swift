internal import CGcrypt
package import Secrets

/// The SHA-1 hash (FIPS 180-4), computed by libgcrypt. Apple's keychain matches certificates with keys by this hash,
/// and its tools identify certificates by it.
///
/// It identifies public data, and finds passwords in lists of breached passwords. No security decision depends on it.
package enum SHA1 {
  /// The length of a hash in bytes.
  package static let size = 20

  /// Computes the hash of bytes.
  ///
  /// - Parameter bytes: A certificate, or the content of the BIT STRING with its public key.
  /// - Returns: 20 bytes.
  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    precondition(ContentDigest.libraryIsReady, "libgcrypt refused its own header's version")
    var hash = [UInt8](repeating: 0, count: 20)
    unsafe hash.withUnsafeMutableBytes { hash in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe gcry_md_hash_buffer(
          CInt(GCRY_MD_SHA1.rawValue), hash.baseAddress, bytes.baseAddress, bytes.count)
      }
    }
    return hash
  }

  /// Computes the hash of a secret. Anyone who has the hash of a weak password can guess the password, so the hash is a
  /// secret, too.
  ///
  /// - Parameter secret: The secret.
  /// - Returns: 20 bytes.
  package static func digest(of secret: borrowing SecretBytes) -> SecretBytes {
    precondition(ContentDigest.libraryIsReady, "libgcrypt refused its own header's version")
    var hash = SecretBytes(capacity: size)
    _ = unsafe hash.append(room: size) { hash in
      unsafe secret.withBytes { bytes in
        unsafe gcry_md_hash_buffer(
          CInt(GCRY_MD_SHA1.rawValue), hash.baseAddress, bytes.baseAddress, bytes.count)
      }
      return size
    }
    return hash
  }
}
