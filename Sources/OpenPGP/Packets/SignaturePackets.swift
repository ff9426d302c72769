internal import Encoding
internal import KeyringModel

/// Signatures in the form that GnuPG always has a verdict about. It skips packets of another form, so that its silence
/// would have two possible reasons.
enum SignaturePackets {
  /// Returns the versions of the signatures in a detached signature.
  ///
  /// - Parameter binary: The signature without armor.
  /// - Returns: nil if it contains anything but signatures of that form, or nothing.
  static func versions(in binary: [UInt8]) -> [UInt8]? {
    guard let packets = packets(of: binary), !packets.isEmpty,
      packets.allSatisfy({ isSignature($0, in: binary) })
    else { return nil }
    return packets.map { binary[$0.body.lowerBound] }
  }

  /// Returns the version of the signature in a message that consists of a one-pass signature of a document, literal data,
  /// and a signature.
  ///
  /// - Parameter message: A binary message.
  /// - Returns: nil if the message has another form.
  static func version(in message: [UInt8]) -> UInt8? {
    guard let packets = packets(of: message), packets.map(\.tag) == [4, 11, 2] else { return nil }
    // Version 3, a binary document, two algorithms, a key id, and 1 for the last signature (RFC 9580, 5.4).
    let onePass = message[packets[0].body]
    let isWhole =
      onePass.count == 13 && onePass.starts(with: [3, 0]) && onePass.last == 1
      && isSignature(packets[2], in: message)
    return isWhole ? message[packets[2].body.lowerBound] : nil
  }

  private static func packets(of bytes: [UInt8]) -> [PacketReader.Packet]? {
    unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe PacketReader(buffer)
      var packets: [PacketReader.Packet] = []
      while !reader.isAtEnd {
        // The caller refuses a damaged signature, whatever is wrong with it.
        guard let packet = try? reader.next(), packet.isWhole else { return nil }
        packets.append(packet)
      }
      return packets
    }
  }

  /// Returns true for a signature of version 4, or of version 5 as GnuPG makes it, whose parts fill the packet exactly
  /// (RFC 9580, 5.2.3).
  private static func isSignature(_ packet: PacketReader.Packet, in bytes: [UInt8]) -> Bool {
    var rest = bytes[packet.body]
    guard packet.tag == 2, rest.count > 4, let version = rest.popFirst(), version == 4 || version == 5,
      rest.popFirst() != nil, let algorithm = rest.popFirst(), let digest = rest.popFirst(),
      digests.contains(digest)
    else { return false }
    // Two areas of subpackets, and two bytes of the digest.
    for _ in 0..<2 {
      guard let length = number(&rest), length <= min(rest.count, areaLimit) else { return false }
      guard subpackets(in: rest.prefix(length)) != nil else { return false }
      rest = rest.dropFirst(length)
    }
    guard number(&rest) != nil else { return false }
    guard let integers = integerCount(of: algorithm) else { return rest.count <= areaLimit }
    for _ in 0..<integers {
      guard let bits = number(&rest), bits > 0, bits <= bitLimit, (bits + 7) / 8 <= rest.count else {
        return false
      }
      rest = rest.dropFirst((bits + 7) / 8)
    }
    return rest.isEmpty
  }

  /// The numbers of the digest algorithms that every supported GnuPG has. About a detached signature with another one it
  /// says nothing.
  private static let digests: Set<UInt8> = [1, 2, 3, 8, 9, 10, 11]
  /// The size in bytes of a field above which GnuPG may skip the signature as damaged. GnuPG makes much smaller ones.
  private static let areaLimit = 9000
  /// The most bits of an integer that GnuPG reads.
  private static let bitLimit = 16_384

  /// Returns the number of integers that GnuPG reads in a signature; nil for an algorithm that it does not know.
  private static func integerCount(of algorithm: UInt8) -> Int? {
    switch algorithm {
    case 1...3: 1
    case 17, 19, 20, 22: 2
    default: nil
    }
  }

  /// Returns true if GnuPG may take a signature in a key file for one by the key itself: one that names the key as its
  /// issuer, and one whose issuer cannot be read here (RFC 9580, 5.2.3.12 and 5.2.3.35).
  ///
  /// - Parameters:
  ///   - signature: The content of the packet.
  ///   - key: The fingerprint of the primary key.
  static func mayBeIssued(_ signature: ArraySlice<UInt8>, by key: Fingerprint) -> Bool {
    var rest = signature.dropFirst(4)
    guard let version = signature.first, version == 4 || version == 5 else { return true }
    var issuers: [(type: UInt8, body: ArraySlice<UInt8>)] = []
    for _ in 0..<2 {
      guard let length = number(&rest), length <= rest.count, let found = subpackets(in: rest.prefix(length))
      else { return true }
      issuers += found.filter { $0.type == 16 || $0.type == 33 }
      rest = rest.dropFirst(length)
    }
    let id = Hex.text(of: KeyID(of: key).value, uppercase: true)
    // The id is at the end of a fingerprint of version 4 and at the start of a later one, after a byte with the version.
    return issuers.isEmpty
      || issuers.contains { issuer in
        let digits = Hexadecimal.text(Array(issuer.body)).uppercased()
        return digits.hasSuffix(id) || digits.dropFirst(2).hasPrefix(id)
      }
  }

  /// Returns the subpackets in an area of a signature, each with its type (RFC 9580, 5.2.3.7).
  ///
  /// - Parameter area: The hashed or the other area, without its length.
  /// - Returns: nil if the subpackets do not fill the area exactly.
  static func subpackets(in area: ArraySlice<UInt8>) -> [(type: UInt8, body: ArraySlice<UInt8>)]? {
    var rest = area
    var found: [(type: UInt8, body: ArraySlice<UInt8>)] = []
    while let first = rest.popFirst() {
      var length = Int(first)
      if first == 255 {
        guard let high = number(&rest), let low = number(&rest) else { return nil }
        length = high << 16 | low
      } else if first >= 192 {
        guard let second = rest.popFirst() else { return nil }
        length = (Int(first) - 192) << 8 + Int(second) + 192
      }
      guard length > 0, length <= rest.count, let type = rest.first else { return nil }
      // The first bit says that a program must know the type.
      found.append((type & 0x7F, rest.prefix(length).dropFirst()))
      rest = rest.dropFirst(length)
    }
    return found
  }

  static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
    return Int(high) << 8 | Int(low)
  }
}
