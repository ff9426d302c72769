internal import CGcrypt

/// The SHA-1 by which Apple's keychain joins certificates and keys (FIPS 180-4), computed by libgcrypt.
///
/// It names a public key, nothing more: no trust rests on it.
enum KeyHash {
  /// Hashes the bytes of a public key.
  ///
  /// - Parameter publicKey: The content of the bit string that a certificate would hold.
  /// - Returns: 20 bytes.
  static func of(_ publicKey: [UInt8]) -> [UInt8] {
    precondition(libraryIsReady, "libgcrypt refused its own header's version")
    var hash = [UInt8](repeating: 0, count: 20)
    unsafe hash.withUnsafeMutableBytes { hash in
      unsafe publicKey.withUnsafeBytes { key in
        unsafe gcry_md_hash_buffer(
          CInt(GCRY_MD_SHA1.rawValue), hash.baseAddress, key.baseAddress, key.count)
      }
    }
    return hash
  }

  // libgcrypt wants this call before any other (its manual, "Initializing the library").
  private static let libraryIsReady = unsafe gcry_check_version(nil) != nil
}
