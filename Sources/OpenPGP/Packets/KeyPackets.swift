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
  /// - Returns: `tooManyParts`, `tooManySignatures` or `tooManyBits` if GnuPG does not get the key; `unreadable` if the file
  ///   has a key of a version or an algorithm that GnuPG 2.2 does not know, otherwise `missing`.
  package static func problem(of file: [UInt8]) -> KeyProblem {
    if let (_, problem) = excess(in: file) { return problem }
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
      let (packets, isWhole) = KeyPacket.all(in: block)
      // A user attribute is not enough.
      guard isWhole, !packets.contains(where: { $0.tag == 13 }) else { continue }
      if let primary = packets.first(where: \.isKey), primary.isPrimary { return primary.fingerprint }
    }
    return nil
  }

  /// Returns true if a file has keys and no damaged packet, and is not truncated.
  ///
  /// - Parameter file: The key, armored or binary.
  static func isWhole(_ file: [UInt8]) -> Bool {
    let (keys, isWhole) = keys(in: Armor.binary(file, .publicKey))
    return isWhole && !keys.isEmpty
  }

  /// Returns a person whose key in a file would keep GnuPG busy for too long, with the problem; nil if there is none.
  ///
  /// - Parameter file: Any number of keys, armored or binary.
  package static func excess(in file: [UInt8]) -> (person: Fingerprint, problem: KeyProblem)? {
    do throws(EngineError) {
      _ = try KeyContent(file)
      return nil
    } catch {
      guard case .unusableKey(let person, let problem) = error else { return nil }
      return (person, problem)
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
  private static func keys(in bytes: [UInt8]) -> (keys: [KeyPacket], isWhole: Bool) {
    let (packets, isWhole) = KeyPacket.all(in: bytes)
    return (packets.filter(\.isKey), isWhole)
  }
}
