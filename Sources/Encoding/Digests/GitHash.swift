internal import CGcrypt

/// The hash functions of git repositories.
package enum GitHash: String, Sendable {
  case sha1
  case sha256

  /// The number of characters in an object name.
  package var length: Int { self == .sha1 ? 40 : 64 }

  /// The all-zero object name, which represents a missing object.
  package var zero: String { String(repeating: "0", count: length) }

  /// The object name of an empty tree.
  package var emptyTree: String { name(of: [], kind: "tree") }

  /// Returns the object name of a file's content: the digest of `blob`, its size and its bytes.
  package func blobName(of bytes: [UInt8]) -> String { name(of: bytes, kind: "blob") }

  private func name(of bytes: [UInt8], kind: String) -> String {
    let (algorithm, size) = self == .sha1 ? (GCRY_MD_SHA1, 20) : (GCRY_MD_SHA256, 32)
    let object = Array("\(kind) \(bytes.count)\0".utf8) + bytes
    var digest = [UInt8](repeating: 0, count: size)
    precondition(ContentDigest.libraryIsReady, "libgcrypt refused its own header's version")
    unsafe digest.withUnsafeMutableBytes { digest in
      unsafe object.withUnsafeBytes { object in
        unsafe gcry_md_hash_buffer(
          CInt(algorithm.rawValue), digest.baseAddress, object.baseAddress, object.count)
      }
    }
    return Hexadecimal.text(digest)
  }
}
