internal import KeyringModel
internal import OpenPGP

extension OpenPGPEngine {
  /// Returns a key or subkey in the new key file of a person that another person has, too.
  ///
  /// - Parameters:
  ///   - people: The people with new key files.
  ///   - files: The key files of all people.
  /// - Returns: The first such subkey; nil if there is none.
  /// - Throws: An engine error.
  func foreignSubkey(
    of people: Set<Fingerprint>, in files: KeyFiles
  ) throws(EngineError) -> ForeignSubkey? {
    if people.isEmpty { return nil }
    // This also finds subkeys that GnuPG does not list, because it cannot read the key.
    if let foreign = ForeignSubkey(of: people, in: KeyPackets.certificates(in: files.values)) {
      return foreign
    }
    // GnuPG also reads files that this program does not, for example with compressed packets.
    let listed = try with(keys: files).publicKeys().map {
      ($0.fingerprint, Set($0.subkeys.map(\.fingerprint)))
    }
    return ForeignSubkey(of: people, in: Dictionary(listed) { $1 })
  }
}
