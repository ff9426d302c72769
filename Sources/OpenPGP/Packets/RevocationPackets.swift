internal import Encoding

/// The revocations of subkeys in key files.
///
/// GnuPG keeps the newest revocation of a subkey that a file has, and adds one to a key that it knows only if it is newer.
/// But a revocation as compromised must never be lost because of another one. So GnuPG gets those first.
enum RevocationPackets {
  /// Returns the keys without those revocations of subkeys that leave older signatures valid, for GnuPG to import before the
  /// files.
  ///
  /// - Parameter files: The key files, armored or binary.
  /// - Returns: The keys in binary, one after another; empty if it does not matter which revocation GnuPG keeps.
  static func withoutSoftRevocations(in files: some Sequence<[UInt8]>) -> [UInt8] {
    var (keys, hasSoft, hasHard): ([UInt8], Bool, Bool) = ([], false, false)
    for block in files.flatMap({ Armor.blocks($0, .publicKey) }) {
      let block = Block(block)
      (hasSoft, hasHard) = (hasSoft || block.hasSoft, hasHard || block.hasHard)
      keys += block.withoutSoft
    }
    return hasSoft && hasHard ? keys : []
  }

  /// The packets of a file, as far as they are not damaged.
  private struct Block {
    var hasSoft = false
    var hasHard = false
    var withoutSoft: [UInt8] = []

    init(_ bytes: [UInt8]) {
      unsafe bytes.withUnsafeBytes { buffer in
        var reader = unsafe PacketReader(buffer)
        var start = 0
        // GnuPG does not read the packets after a damaged one, either.
        while !reader.isAtEnd, let packet = try? reader.next() {
          let end = packet.furtherParts.last?.upperBound ?? packet.body.upperBound
          let kind = RevocationPackets.kind(of: packet, in: bytes)
          if kind == .soft { hasSoft = true } else { withoutSoft += bytes[start..<end] }
          if kind == .hard { hasHard = true }
          start = end
        }
      }
    }
  }

  private enum Kind { case soft, hard }

  /// Returns the kind of a revocation of a subkey; nil for another packet. The signature is not verified.
  private static func kind(of packet: PacketReader.Packet, in bytes: [UInt8]) -> Kind? {
    var rest = bytes[packet.body]
    // The version, the type, and two algorithms (RFC 9580, 5.2.3).
    guard packet.tag == 2, packet.isWhole, rest.count > 6, rest.popFirst() != 3, rest.popFirst() == 0x28
    else {
      return nil
    }
    rest = rest.dropFirst(2)
    guard let length = SignaturePackets.number(&rest),
      let reason = SignaturePackets.subpackets(in: rest.prefix(length))?.last(where: { $0.type == 29 })?.body
        .first
    else { return .hard }
    return KeyRevocation.isHard(KeyRevocation.Reason(rawValue: reason)) ? .hard : .soft
  }
}
