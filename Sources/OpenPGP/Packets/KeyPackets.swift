internal import Encoding
package import KeyringModel

/// The versions and algorithms of the public keys in a key file, which decide whether a GnuPG can read it.
package enum KeyPackets {
  /// Returns the reason why this machine's GnuPG does not list the key of a file, or lists it only in part.
  ///
  /// GnuPG 2.2 imports no key with a packet of version 5. GnuPG 2.4 imports one with a Kyber subkey, but lists the subkey
  /// as invalid.
  ///
  /// - Parameter file: The key, armored or binary.
  /// - Returns: `unreadable` if the file has a key of a version or an algorithm that GnuPG 2.2 does not know, otherwise
  ///   `missing`.
  package static func problem(of file: [UInt8]) -> KeyProblem {
    let needs = blocks(of: file).flatMap { keys(in: $0).keys }.map {
      needed(version: $0.version, algorithm: $0.algorithm)
    }
    if needs.contains(.newer) { return .unreadable(needs: nil) }
    if needs.contains(.kyber) { return .unreadable(needs: "2.5") }
    return needs.contains(.version5) ? .unreadable(needs: "2.4") : .missing
  }

  /// Returns true if a file has an ordinary key and no damaged packet, so that GnuPG at least reads it.
  ///
  /// - Parameter file: The key, armored or binary.
  static func isOrdinary(_ file: [UInt8]) -> Bool { ordinaryCount(in: file) > 0 }

  /// Returns the number of primary keys in a file that has only ordinary keys and no damaged packet, otherwise 0. Of
  /// several armored keys only the first is counted.
  ///
  /// - Parameter file: The keys, armored or binary.
  static func ordinaryCount(in file: [UInt8]) -> Int {
    let (keys, isWhole) = keys(in: Armor.binary(file, .publicKey))
    guard isWhole, keys.first?.isPrimary == true,
      keys.allSatisfy({ $0.version == 4 && needed(version: $0.version, algorithm: $0.algorithm) == .any })
    else { return 0 }
    return keys.count(where: \.isPrimary)
  }

  /// Returns the fingerprints of the keys and subkeys of version 4 in a file. Of several armored keys only the first is
  /// read.
  ///
  /// - Parameter file: The key, armored or binary.
  static func fingerprints(in file: [UInt8]) -> Set<Fingerprint> {
    Set(
      keys(in: Armor.binary(file, .publicKey)).keys.filter { $0.version == 4 }.compactMap(\.fingerprint))
  }

  /// Returns the fingerprints of the keys in files, of each with its subkeys, whether or not their signatures are valid.
  ///
  /// - Parameter files: Any number of files, each with any number of keys, armored or binary.
  /// - Returns: The fingerprints of the primary key and of its subkeys, by that of the primary key. Keys that no GnuPG can
  ///   read are left out.
  package static func certificates(in files: some Sequence<[UInt8]>) -> [Fingerprint: Set<Fingerprint>] {
    var certificates: [Fingerprint: Set<Fingerprint>] = [:]
    for block in files.flatMap(blocks) {
      var primary: Fingerprint?
      for key in keys(in: block).keys {
        let fingerprint = key.fingerprint
        if key.isPrimary { primary = fingerprint }
        if let primary, let fingerprint { certificates[primary, default: []].insert(fingerprint) }
      }
    }
    return certificates
  }

  /// Returns the key of a file that has no user id, because of which GnuPG does not import it.
  ///
  /// - Parameter file: The key, armored or binary.
  /// - Returns: The fingerprint of the primary key; nil if the file has a user id, a damaged packet, or no key.
  static func keyWithoutUserID(in file: [UInt8]) -> Fingerprint? {
    for block in blocks(of: file) {
      let (found, isWhole) = keys(in: block)
      if isWhole, !hasUserID(block), let primary = found.first, primary.isPrimary {
        return primary.fingerprint
      }
    }
    return nil
  }

  /// Returns true if some packets have a user id (RFC 9580, 5.12).
  private static func hasUserID(_ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe PacketReader(buffer)
      // The caller has read the packets already.
      while !reader.isAtEnd, let packet = try? reader.next() {
        if packet.tag == 13 { return true }
      }
      return false
    }
  }

  /// Returns true if a file has keys and no damaged packet, and is not truncated.
  ///
  /// - Parameter file: The key, armored or binary.
  static func isWhole(_ file: [UInt8]) -> Bool {
    let (keys, isWhole) = keys(in: Armor.binary(file, .publicKey))
    return isWhole && !keys.isEmpty
  }

  private struct Key {
    let isPrimary: Bool
    let body: [UInt8]
    var version: UInt8 { body[0] }
    /// Version and four bytes of time come before the algorithm (RFC 9580, 5.5.2).
    var algorithm: UInt8 { body[5] }
    /// The fingerprint of a key of version 4 (RFC 9580, 5.5.4.2) or 5 (LibrePGP, 5.5.4); nil for other versions.
    var fingerprint: Fingerprint? {
      func bytes(of length: Int) -> [UInt8] {
        (0..<length).reversed().map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
      }
      let digest: [UInt8]
      switch version {
      case 4: digest = SHA1.digest(of: [0x99] + bytes(of: 2) + body)
      case 5: digest = ContentDigest(of: [0x9A] + bytes(of: 4) + body).bytes
      default: return nil
      }
      return Fingerprint(Hexadecimal.text(digest).uppercased())
    }
  }

  /// The GnuPG that a key needs.
  private enum Need {
    /// Every supported one.
    case any
    /// One that reads keys of version 5, which LibrePGP defines: 2.4.
    case version5
    /// One that has the composite Kyber keys of LibrePGP: 2.5.
    case kyber
    /// One that is newer than this program.
    case newer
  }

  private static func needed(version: UInt8, algorithm: UInt8) -> Need {
    switch (version, algorithm) {
    case (4, 1...3), (4, 16...20), (4, 22): .any
    case (5, 1...3), (5, 16...20), (5, 22): .version5
    case (4...5, 8): .kyber
    // GnuPG ignores keys of version 3.
    case (..<4, _): .any
    default: .newer
    }
  }

  /// Returns the parts of a file that GnuPG reads one after another: each armored key, or the whole binary file.
  private static func blocks(of file: [UInt8]) -> [[UInt8]] { Armor.blocks(file, .publicKey) }

  /// Returns the public keys and subkeys up to the first packet that cannot be read, and true if there is none.
  private static func keys(in bytes: [UInt8]) -> (keys: [Key], isWhole: Bool) {
    unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe PacketReader(buffer)
      var keys: [Key] = []
      while !reader.isAtEnd {
        // The packets before a damaged one are enough: they explain what GnuPG has reported.
        guard let packet = try? reader.next() else { return (keys, false) }
        guard packet.tag == 6 || packet.tag == 14, packet.isWhole, packet.body.count > 5 else { continue }
        keys.append(Key(isPrimary: packet.tag == 6, body: Array(bytes[packet.body])))
      }
      return (keys, true)
    }
  }
}
