internal import CGcrypt
internal import Encoding
internal import Secrets

/// The key exchange of `dh-ietf1024-sha256-aes128-cbc-pkcs7`: Diffie-Hellman in the second Oakley group (RFC 2409,
/// 6.2), then HKDF with SHA-256 (RFC 5869).
enum KeyExchange {
  /// The size of a public number, of a private number and of the shared number, in bytes.
  static let size = 128

  /// The prime of the group.
  static let prime = """
    FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD\
    EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
    EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF
    """

  /// The error of a peer's public number that is out of range.
  struct InvalidNumber: Error {}

  /// Creates a private number.
  static func newPrivateNumber() -> SecretBytes {
    precondition(ContentDigest.libraryIsReady, "libgcrypt refused its own header's version")
    var number = SecretBytes(capacity: size)
    _ = unsafe number.append(room: size) { room in
      unsafe gcry_randomize(room.baseAddress, room.count, GCRY_STRONG_RANDOM)
      return size
    }
    return number
  }

  /// Returns the public number of a private one.
  ///
  /// - Returns: Exactly 128 bytes.
  /// - Throws: ``GcryptFailure``.
  static func publicNumber(of number: borrowing SecretBytes) throws -> [UInt8] {
    let result = try power([2], number)
    return unsafe result.withBytes { unsafe Array($0) }
  }

  /// Returns the key that this side and a peer share.
  ///
  /// - Parameters:
  ///   - peer: The peer's public number, with or without leading zeros.
  ///   - number: The private number of this side.
  /// - Returns: 16 bytes.
  /// - Throws: ``InvalidNumber`` for a number that no peer computes; ``GcryptFailure``.
  static func sharedKey(_ peer: [UInt8], _ number: borrowing SecretBytes) throws -> SecretBytes {
    try derive(sharedNumber(peer, number))
  }

  static func sharedNumber(_ peer: [UInt8], _ number: borrowing SecretBytes) throws -> SecretBytes {
    let digits = Array(peer.drop { $0 == 0 })
    guard digits.count <= size, digits != [], digits != [1], try isBelowOrder(digits) else {
      throw InvalidNumber()
    }
    return try power(digits, number)
  }

  /// Derives the key from the shared number.
  static func derive(_ shared: borrowing SecretBytes) throws -> SecretBytes {
    let extract = KeyedDigest(key: SecretBytes(copying: [UInt8](repeating: 0, count: KeyedDigest.size)))
    let expand = KeyedDigest(key: try extract.digest(of: shared))
    var key = try expand.digest(of: SecretBytes(copying: [1]))
    key.truncate(to: SessionKey.blockSize)
    return key
  }

  /// Returns true if a number is less than p - 1.
  private static func isBelowOrder(_ digits: [UInt8]) throws -> Bool {
    let candidate = try unsafe digits.withUnsafeBytes { try unsafe Number($0) }
    let order = try primeNumber()
    unsafe gcry_mpi_sub_ui(order.value, order.value, 1)
    return unsafe gcry_mpi_cmp(candidate.value, order.value) < 0
  }

  private static func power(_ base: [UInt8], _ exponent: borrowing SecretBytes) throws -> SecretBytes {
    let base = try unsafe base.withUnsafeBytes { try unsafe Number($0) }
    let exponent = try unsafe exponent.withBytes { try unsafe Number($0, isSecret: true) }
    let modulus = try primeNumber()
    let result = unsafe Number(gcry_mpi_snew(UInt32(size * 8)))
    unsafe gcry_mpi_powm(result.value, base.value, exponent.value, modulus.value)
    var bytes = SecretBytes(capacity: size)
    var code: gcry_error_t = 0
    _ = unsafe bytes.append(room: size) { room in
      var count = 0
      // Zeros at the start are not written.
      code = unsafe gcry_mpi_print(GCRYMPI_FMT_USG, nil, 0, &count, result.value)
      guard code == 0, count <= size, let start = room.baseAddress else { return 0 }
      unsafe room.initializeMemory(as: UInt8.self, repeating: 0)
      code = unsafe gcry_mpi_print(
        GCRYMPI_FMT_USG, (start + (size - count)).assumingMemoryBound(to: UInt8.self), count, &count,
        result.value)
      return size
    }
    try GcryptFailure.check(code)
    return bytes
  }

  private static func primeNumber() throws -> Number {
    try unsafe primeBytes.withUnsafeBytes { try unsafe Number($0) }
  }

  static let primeBytes: [UInt8] = {
    var bytes: [UInt8] = []
    var rest = Array(prime.utf8)[...]
    while !rest.isEmpty {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      bytes.append(UInt8(digits, radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }()

  /// A number of libgcrypt. Secret numbers are in its locked memory.
  @safe
  private final class Number {
    let value: gcry_mpi_t?

    init(_ value: gcry_mpi_t?) { unsafe self.value = value }

    /// Reads big-endian digits.
    init(_ digits: UnsafeRawBufferPointer, isSecret: Bool = false) throws {
      precondition(ContentDigest.libraryIsReady, "libgcrypt refused its own header's version")
      var scanned: gcry_mpi_t?
      try GcryptFailure.check(
        unsafe gcry_mpi_scan(&scanned, GCRYMPI_FMT_USG, digits.baseAddress, digits.count, nil))
      if isSecret, let number = unsafe scanned { unsafe gcry_mpi_set_flag(number, GCRYMPI_FLAG_SECURE) }
      unsafe value = scanned
    }

    deinit { unsafe gcry_mpi_release(value) }
  }
}
