internal import Encoding
internal import KeyringModel

/// The properties of a key, read from its bytes.
///
/// Formats and sizes are checked, for example that a modulus is odd and that a point has the length of a curve. The
/// mathematical consistency of the numbers is not checked; this library stores keys and does not compute with them.
struct KeyMaterial: Sendable {
  /// An algorithm, identified by Apple's number.
  struct KeyType: Hashable, Sendable {
    let number: Int64

    static let rsa = KeyType(number: 42)
    static let ellipticCurve = KeyType(number: 73)
    static let des = KeyType(number: 14)
    static let tripleDES = KeyType(number: 17)
    static let rc2 = KeyType(number: 23)
    static let rc4 = KeyType(number: 25)
    static let cast = KeyType(number: 56)
    static let aes = KeyType(number: 0x8000_0001)
  }

  /// The class of a key: one half of a pair, or symmetric; Apple's numbers.
  enum KeyClass: Int64, Sendable {
    case publicKey = 0
    case privateKey = 1
    case symmetric = 2
  }

  /// The algorithm.
  let type: KeyType
  /// The class of the key.
  let keyClass: KeyClass
  /// The size in bits: of the modulus for RSA, of the field for curves, of the key itself for symmetric keys.
  let bits: Int
  /// The public half in the format of certificates; nil for symmetric keys.
  let publicKey: [UInt8]?

  /// Reads the bytes of a key.
  ///
  /// - Parameters:
  ///   - type: The algorithm of the key.
  ///   - keyClass: The class of the key.
  ///   - bytes: PKCS#1 for RSA; X9.63 for curves, where a private key follows its public point; raw bytes for the
  ///     others.
  /// - Returns: nil if the bytes are not a key of this type and class.
  init?(type: KeyType, keyClass: KeyClass, bytes: UnsafeRawBufferPointer) {
    let found: (bits: Int, publicKey: [UInt8]?)?
    switch (type, keyClass) {
    case (.rsa, .publicKey), (.rsa, .privateKey):
      found = unsafe Self.rsa(bytes, isPrivate: keyClass == .privateKey)
    case (.ellipticCurve, .publicKey), (.ellipticCurve, .privateKey):
      found = unsafe Self.point(bytes, isPrivate: keyClass == .privateKey)
    case (_, .symmetric):
      found = Self.accepts(size: bytes.count, of: type) ? (bytes.count * 8, nil) : nil
    default:
      found = nil
    }
    guard let found else { return nil }
    self.type = type
    self.keyClass = keyClass
    bits = found.bits
    publicKey = found.publicKey
  }

  /// The number of bytes that an operation processes at a time.
  var blockSize: Int {
    switch type {
    case .aes: 16
    case .des, .tripleDES, .rc2, .cast: 8
    case .rc4: 1
    default: (bits + 7) / 8
    }
  }

  /// Reads an RSAPublicKey or RSAPrivateKey (RFC 8017 appendix A.1) with two primes.
  private static func rsa(_ bytes: UnsafeRawBufferPointer, isPrivate: Bool) -> (Int, [UInt8]?)? {
    guard var numbers = unsafe DERReader.only(bytes[...], DER.sequence)?.reader else { return nil }
    if isPrivate {
      guard let version = unsafe numbers.nextUnsigned(), unsafe version.isEmpty else { return nil }
    }
    guard let modulus = unsafe numbers.nextUnsigned(), let exponent = unsafe numbers.nextUnsigned(),
      let first = unsafe modulus.first, unsafe isOdd(modulus), unsafe isOdd(exponent),
      unsafe exponent.count > 1 || exponent.first != 1, unsafe exponent.count <= modulus.count
    else { return nil }
    if isPrivate {
      // The private exponent, two primes, two exponents and a coefficient.
      for _ in 0..<6 {
        guard let number = unsafe numbers.nextUnsigned(), unsafe !number.isEmpty else { return nil }
      }
    }
    let bits = unsafe modulus.count * 8 - first.leadingZeroBitCount
    guard unsafe numbers.isAtEnd, (512...16_384).contains(bits) else { return nil }
    let content = unsafe DER.encode(unsigned: modulus) + DER.encode(unsigned: exponent)
    return (bits, DER.encode(DER.sequence, content))
  }

  /// Reads an uncompressed point (ANSI X9.63 section 4.3.6), which the private number of the same length follows in a
  /// private key.
  private static func point(_ bytes: UnsafeRawBufferPointer, isPrivate: Bool) -> (Int, [UInt8]?)? {
    let coordinates = isPrivate ? 3 : 2
    guard unsafe bytes.first == 4, (bytes.count - 1).isMultiple(of: coordinates),
      let bits = fieldBits[(bytes.count - 1) / coordinates]
    else { return nil }
    let size = (bytes.count - 1) / coordinates
    return unsafe (bits, Array(bytes[...(2 * size)]))
  }

  private static func isOdd(_ magnitude: Slice<UnsafeRawBufferPointer>) -> Bool {
    unsafe (magnitude.last ?? 0) & 1 == 1
  }

  /// The NIST curves: octets of a coordinate and bits of the field.
  private static let fieldBits = [24: 192, 28: 224, 32: 256, 48: 384, 66: 521]

  private static func accepts(size: Int, of type: KeyType) -> Bool {
    switch type {
    case .aes: [16, 24, 32].contains(size)
    case .des: size == 8
    case .tripleDES: [16, 24].contains(size)
    case .rc2, .cast: (5...128).contains(size)
    case .rc4: (5...256).contains(size)
    default: false
    }
  }
}
