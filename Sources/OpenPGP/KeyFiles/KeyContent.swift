internal import Encoding
internal import KeyringModel

/// The keys of a file in the form in which GnuPG gets them: in binary, without packets that belong to no public key.
///
/// GnuPG needs time that grows with the square of the number of user ids and subkeys of a key: 26 s for a file of 200 KB
/// with 1,000 of them (threat T46). It needs a second for each signature of an RSA key of 16,384 bits with an exponent of that
/// length. So the parts are counted and measured first, and GnuPG gets only packets that were counted: no compressed ones,
/// and none after a damaged one.
struct KeyContent: Sendable {
  /// The maximum number of user ids and user attributes of a key, and the maximum number of its subkeys.
  static let partLimit = 64
  /// The maximum number of signatures by a key in its file: several for each user id and subkey. GnuPG verifies all of
  /// them. It does not verify those of other people, of which a key from a server may have thousands.
  static let signatureLimit = 1024

  /// The packets; empty if the file has no key.
  let bytes: [UInt8]

  /// Reads the keys in a file.
  ///
  /// - Parameters:
  ///   - file: Any number of keys, armored or binary.
  ///   - people: The primary fingerprints of the keys that are read; nil for all. Keys whose version no GnuPG knows are
  ///     left out.
  /// - Throws: `unusableKey` with `tooManyParts`, `tooManySignatures` or `tooManyBits`.
  init(_ file: [UInt8], of people: Set<Fingerprint>? = nil) throws(EngineError) {
    var bytes: [UInt8] = []
    var counts: [Fingerprint: PartCount] = [:]
    for block in Armor.blocks(file, .publicKey) {
      var current: Fingerprint?
      for packet in KeyPacket.all(in: block).packets {
        if packet.isPrimary {
          current = packet.fingerprint.flatMap { people?.contains($0) == false ? nil : $0 }
          if let current { counts[current, default: PartCount()].beginKey() }
        }
        guard let current else { continue }
        if packet.isKey, packet.hasTooManyBits { throw .unusableKey(current, .tooManyBits) }
        counts[current, default: PartCount()].add(packet, of: current)
        if let problem = counts[current]?.problem { throw .unusableKey(current, problem) }
        if packet.isPrimary || packet.isSubkey || packet.isUserID || packet.isSignature {
          bytes += packet.bytes
        }
      }
    }
    self.bytes = bytes
  }

  /// Creates the content of several files.
  ///
  /// - Parameter contents: The contents, each within the limit.
  init(joining contents: some Sequence<KeyContent>) { bytes = contents.flatMap(\.bytes) }

  /// Creates a content from some of its packets.
  ///
  /// - Parameter packets: Packets of one content, in their order.
  init(_ packets: some Sequence<KeyPacket>) { bytes = packets.flatMap(\.bytes) }

  /// The packets of the keys.
  var packets: [KeyPacket] { KeyPacket.all(in: bytes).packets }

  /// The parts of one key. A file can have the key several times, and GnuPG merges its parts.
  private struct PartCount {
    private var users: Set<ArraySlice<UInt8>> = []
    private var subkeys: Set<ArraySlice<UInt8>> = []
    /// The number of parts since the key began, equal ones included: GnuPG compares all of them with each other.
    private var (userCount, subkeyCount) = (0, 0)
    private var signatureCount = 0

    var problem: KeyProblem? {
      if max(users.count, subkeys.count, userCount, subkeyCount) > KeyContent.partLimit {
        return .tooManyParts(limit: KeyContent.partLimit)
      }
      return signatureCount > KeyContent.signatureLimit
        ? .tooManySignatures(limit: KeyContent.signatureLimit) : nil
    }

    mutating func beginKey() { (userCount, subkeyCount) = (0, 0) }

    mutating func add(_ packet: KeyPacket, of person: Fingerprint) {
      if packet.isSignature {
        if SignaturePackets.mayBeIssued(packet.body, by: person) { signatureCount += 1 }
      } else if packet.isSubkey {
        subkeys.insert(packet.body)
        subkeyCount += 1
      } else if packet.isUserID {
        users.insert(packet.body)
        userCount += 1
      }
    }
  }
}
