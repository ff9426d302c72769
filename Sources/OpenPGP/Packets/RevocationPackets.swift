internal import Encoding

/// The revocations of subkeys in key files.
///
/// GnuPG keeps the newest revocation of a subkey that a file has, and adds one to a key that it knows only if it is newer.
/// But a revocation as compromised must never be lost because of another one. So GnuPG gets those first.
enum RevocationPackets {
  /// Returns the keys without those revocations of subkeys that leave older signatures valid, for GnuPG to import before the
  /// files.
  ///
  /// - Parameter keys: The contents of key files.
  /// - Returns: nil if it does not matter which revocation GnuPG keeps.
  static func withoutSoftRevocations(in keys: some Sequence<KeyContent>) -> KeyContent? {
    let packets = keys.flatMap(\.packets)
    let kinds = packets.map(kind)
    guard kinds.contains(.soft), kinds.contains(.hard) else { return nil }
    return KeyContent(zip(packets, kinds).filter { $0.1 != .soft }.map(\.0))
  }

  private enum Kind { case soft, hard }

  /// Returns the kind of a revocation of a subkey; nil for another packet. The signature is not verified.
  private static func kind(of packet: KeyPacket) -> Kind? {
    var rest = packet.body
    // The version, the type, and two algorithms (RFC 9580, 5.2.3).
    guard packet.isSignature, rest.count > 6, rest.popFirst() != 3, rest.popFirst() == 0x28
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
