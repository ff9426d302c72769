internal import CGcrypt

/// A SHA-256 digest (FIPS 180-4), computed by libgcrypt.
package struct ContentDigest: Hashable, Sendable {
  /// The length of a digest in bytes.
  package static let size = 32

  // Four words instead of an array, because every item record contains a digest, and an array would cost an additional
  // allocation for each.
  private let words: Words

  private struct Words: Hashable {
    var first: UInt64 = 0
    var second: UInt64 = 0
    var third: UInt64 = 0
    var fourth: UInt64 = 0
  }

  /// Computes the digest of a buffer.
  ///
  /// - Parameter bytes: The bytes, which may be empty.
  package init(of bytes: UnsafeRawBufferPointer) {
    precondition(Self.libraryIsReady, "libgcrypt refused its own header's version")
    var words = Words()
    unsafe withUnsafeMutableBytes(of: &words) { words in
      unsafe gcry_md_hash_buffer(
        CInt(GCRY_MD_SHA256.rawValue), words.baseAddress, bytes.baseAddress, bytes.count)
    }
    self.words = words
  }

  /// Computes the digest of a byte and two digests, as a Merkle tree does for each of its nodes, without an allocation.
  package init(of prefix: UInt8, _ left: ContentDigest, _ right: ContentDigest) {
    self = unsafe withUnsafeTemporaryAllocation(byteCount: 1 + 2 * Self.size, alignment: 8) { buffer in
      unsafe buffer[0] = prefix
      unsafe withUnsafeBytes(of: left.words) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[1...Self.size]).copyMemory(from: $0)
      }
      unsafe withUnsafeBytes(of: right.words) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[(1 + Self.size)...]).copyMemory(from: $0)
      }
      return unsafe ContentDigest(of: UnsafeRawBufferPointer(buffer))
    }
  }

  /// Computes the digest of an array.
  ///
  /// - Parameter bytes: The bytes, which may be empty.
  package init(of bytes: [UInt8]) {
    self = unsafe bytes.span.withUnsafeBytes { unsafe ContentDigest(of: $0) }
  }

  /// Reads the format that ``base64url`` writes.
  ///
  /// - Parameter text: Exactly 43 characters of the URL alphabet. The result is nil for any other text.
  package init?(base64url text: String) {
    let text = Array(text.utf8)
    guard let digest = unsafe text.span.withUnsafeBytes({ unsafe ContentDigest(base64url: $0) }) else {
      return nil
    }
    self = digest
  }

  package init?(base64url text: UnsafeRawBufferPointer) {
    // The length of a text of 32 bytes.
    guard text.count == 43 else { return nil }
    var words = Words()
    let isValid = unsafe withUnsafeMutableBytes(of: &words) { words in
      var count = 0
      return unsafe Base64.decode(text, as: .url) { byte in
        unsafe words[count] = byte
        count += 1
      }
    }
    guard isValid else { return nil }
    self.words = words
  }

  /// Creates a digest that was computed before.
  ///
  /// - Parameter bytes: Exactly 32 bytes.
  package init(storedAs bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == Self.size, "a SHA-256 digest has 32 bytes")
    var words = Words()
    unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyMemory(from: bytes) }
    self.words = words
  }

  /// The 32 bytes of the digest.
  package var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: words) { unsafe Array($0) }
  }

  /// The digest as 43 characters of the URL alphabet without padding (RFC 4648 section 5).
  package var base64url: String {
    String(decoding: Base64.encode(bytes, as: .url), as: UTF8.self)
  }

  /// True if libgcrypt was initialized.
  //
  // libgcrypt requires this call before any other (see "Initializing the library" in its manual).
  package static let libraryIsReady = unsafe gcry_check_version(nil) != nil
}
