internal import CGcrypt

/// The SHA-1 (FIPS 180-4) by which Apple's keychain joins certificates and keys, and its tools name certificates,
/// computed by libgcrypt.
///
/// It names what is public, nothing more: no trust rests on it.
package enum SHA1 {
  /// Hashes some bytes.
  ///
  /// - Parameter bytes: A certificate, or the content of the bit string with its public key.
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
}
