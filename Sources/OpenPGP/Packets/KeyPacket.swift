internal import Encoding
internal import KeyringModel

/// A packet in a file of public keys (RFC 9580, 10.1).
struct KeyPacket {
  /// The type of the packet (RFC 9580, 5).
  let tag: UInt8
  /// The packet with its header.
  let bytes: ArraySlice<UInt8>
  /// Its content.
  let body: ArraySlice<UInt8>

  /// Returns the packets of a file up to the first one that cannot be read, and true if there is none.
  ///
  /// - Parameter bytes: A binary file, or one block of an armored file in binary.
  static func all(in bytes: [UInt8]) -> (packets: [KeyPacket], isWhole: Bool) {
    unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe PacketReader(buffer, acceptsLongLengths: true)
      var packets: [KeyPacket] = []
      var start = 0
      while !reader.isAtEnd {
        // The packets before a damaged one are enough: GnuPG does not get the others.
        guard let packet = try? reader.next() else { return (packets, false) }
        let end = packet.furtherParts.last?.upperBound ?? packet.body.upperBound
        // Only data may be in parts (RFC 9580, 4.2.1.4).
        if packet.isWhole {
          packets.append(KeyPacket(tag: packet.tag, bytes: bytes[start..<end], body: bytes[packet.body]))
        }
        start = end
      }
      return (packets, true)
    }
  }

  /// True for a primary key.
  var isPrimary: Bool { tag == 6 }
  /// True for a primary key or a subkey that is long enough to have an algorithm.
  var isKey: Bool { (isPrimary || tag == 14) && body.count > 5 }
  /// True for a signature.
  var isSignature: Bool { tag == 2 }
  /// True for a subkey.
  var isSubkey: Bool { tag == 14 }
  /// True for a user id or a user attribute, such as a picture.
  var isUserID: Bool { tag == 13 || tag == 17 }

  /// The version of a key.
  var version: UInt8 { body[body.startIndex] }
  /// The algorithm of a key. Version and four bytes of time come before it (RFC 9580, 5.5.2).
  var algorithm: UInt8 { body[body.startIndex + 5] }
  /// The maximum numbers of bits of the numbers of a key, in the order of the packet (RFC 9580, 5.5.5); empty for an
  /// algorithm of elliptic curves, whose curves are short. The second number is the exponent of RSA, and the order of the
  /// group of DSA: with numbers of 16,384 bits GnuPG needs a second for each signature.
  private var bitLimits: [Int] {
    switch algorithm {
    case 1...3: [8192, 64]
    case 16, 20: [8192, 8192, 8192]
    case 17: [4096, 512, 4096, 4096]
    default: []
    }
  }
  /// True for a key that has more bits than keys of people have.
  var hasTooManyBits: Bool {
    guard version == 4 || version == 5 else { return false }
    // Keys of version 5 have the length of the numbers before them.
    var rest = body.dropFirst(version == 5 ? 10 : 6)
    for limit in bitLimits {
      guard let bits = SignaturePackets.number(&rest) else { return false }
      if bits > limit { return true }
      rest = rest.dropFirst((bits + 7) / 8)
    }
    return false
  }
  /// The fingerprint of a key of version 4 (RFC 9580, 5.5.4.2) or 5 (LibrePGP, 5.5.4); nil for other versions.
  var fingerprint: Fingerprint? {
    func bytes(of length: Int) -> [UInt8] {
      (0..<length).reversed().map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
    }
    guard isKey else { return nil }
    let digest: [UInt8]
    switch version {
    case 4: digest = SHA1.digest(of: [0x99] + bytes(of: 2) + body)
    case 5: digest = ContentDigest(of: [0x9A] + bytes(of: 4) + body).bytes
    default: return nil
    }
    return Fingerprint(Hexadecimal.text(digest).uppercased())
  }
}
