internal import CGcrypt
package import Secrets

extension Seed {
  /// Returns the code for a counter (RFC 4226, section 5.3), with the hash function of the seed (RFC 6238, section
  /// 1.2). A Steam code has the same number, written in another alphabet.
  ///
  /// libgcrypt keeps the key in its own locked memory during the call, and wipes it afterwards.
  ///
  /// - Parameter counter: The counter. For codes by time, the number of periods since 1970.
  /// - Throws: `CodeError` when libgcrypt cannot compute the HMAC, for example because a system policy forbids the hash
  ///   function.
  package func code(counter: UInt64) throws(CodeError) -> SecretBytes {
    var digest = SecretBytes(capacity: 64)
    var problem: gcry_error_t = 0
    _ = unsafe digest.append(room: hash.size) { room in
      problem = unsafe authenticate(counter, into: room)
      return hash.size
    }
    guard problem == 0 else { throw CodeError(problem) }
    // Dynamic truncation: the last four bits are the offset of the 31 bits to use.
    var number = unsafe digest.withBytes { bytes -> UInt32 in
      let start = Int(unsafe bytes[bytes.count - 1] & 0xF)
      let value = unsafe bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
      return UInt32(bigEndian: value) & 0x7FFF_FFFF
    }
    var code = SecretBytes(capacity: digits)
    if isSteam {
      for _ in 0..<digits {
        code.append(Self.steamAlphabet[Int(number % 26)])
        number /= 26
      }
      return code
    }
    var weight = (1..<digits).reduce(UInt32(1)) { weight, _ in weight * 10 }
    for _ in 0..<digits {
      code.append(UInt8(ascii: "0") + UInt8(number / weight % 10))
      weight /= 10
    }
    return code
  }

  // The characters of Steam codes, which leave out those that look like others. The last digit of the number in base 26
  // is the first character.
  private static let steamAlphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)

  /// The key, padded with zeros to the block size of the hash function.
  ///
  /// HMAC pads a short key in the same way (RFC 2104, section 2), so the codes are the same. In FIPS mode libgcrypt
  /// refuses keys below 112 bits, and many seeds have 80. A longer key is not changed.
  var paddedKey: SecretBytes {
    var padded = SecretBytes(capacity: max(key.count, hash.blockSize))
    padded.append(key)
    for _ in 0..<max(hash.blockSize - key.count, 0) { padded.append(0) }
    return padded
  }

  private func authenticate(_ counter: UInt64, into digest: UnsafeMutableRawBufferPointer) -> gcry_error_t {
    guard Self.libraryIsReady else { return gcry_error_t(GPG_ERR_NOT_INITIALIZED.rawValue) }
    var handle: gcry_mac_hd_t?
    let flags = UInt32(GCRY_MAC_FLAG_SECURE.rawValue)
    var problem = unsafe gcry_mac_open(&handle, CInt(hash.algorithm), flags, nil)
    guard problem == 0 else { return problem }
    defer { unsafe gcry_mac_close(handle) }
    var (moving, size) = (counter.bigEndian, digest.count)
    let key = paddedKey
    problem = unsafe key.withBytes { unsafe gcry_mac_setkey(handle, $0.baseAddress, $0.count) }
    if problem == 0 {
      problem = unsafe withUnsafeBytes(of: &moving) {
        unsafe gcry_mac_write(handle, $0.baseAddress, $0.count)
      }
    }
    if problem == 0 { problem = unsafe gcry_mac_read(handle, digest.baseAddress, &size) }
    if problem == 0, size != digest.count { return gcry_error_t(GPG_ERR_DIGEST_ALGO.rawValue) }
    return problem
  }

  // libgcrypt requires this call before any other (its manual, "Initializing the library").
  private static let libraryIsReady: Bool = {
    keytree_gcrypt_quiet()
    return unsafe gcry_check_version(nil) != nil
  }()
}

extension Seed.Hash {
  var algorithm: UInt32 {
    switch self {
    case .sha1: GCRY_MAC_HMAC_SHA1.rawValue
    case .sha256: GCRY_MAC_HMAC_SHA256.rawValue
    case .sha512: GCRY_MAC_HMAC_SHA512.rawValue
    }
  }

  /// The size of a digest, in bytes.
  var size: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }

  /// The block size of the hash function, in bytes.
  var blockSize: Int { self == .sha512 ? 128 : 64 }

  /// The name in an `otpauth` URI.
  var name: String {
    switch self {
    case .sha1: "SHA1"
    case .sha256: "SHA256"
    case .sha512: "SHA512"
    }
  }
}
