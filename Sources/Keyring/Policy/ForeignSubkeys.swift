internal import KeyringModel
internal import OpenPGP

extension OpenPGPEngine {
  /// Returns a key or subkey in the new key file of a person that another person of this engine has, too. Its use and
  /// its flags do not matter.
  ///
  /// - Parameter people: The people with new key files.
  /// - Returns: The first such subkey; nil if there is none.
  /// - Throws: An engine error.
  func foreignSubkey(of people: Set<Fingerprint>) throws(EngineError) -> ForeignSubkey? {
    if people.isEmpty { return nil }
    let keys = try publicKeys()
    var owners: [Fingerprint: [Fingerprint]] = [:]
    for key in keys {
      for subkey in key.subkeys { owners[subkey.fingerprint, default: []].append(key.fingerprint) }
    }
    for key in keys where people.contains(key.fingerprint) {
      for subkey in key.subkeys where subkey.fingerprint != key.fingerprint {
        let others = (owners[subkey.fingerprint] ?? []).filter { $0 != key.fingerprint }
        // The owner of a primary key is certain, otherwise a person who had the subkey before is named as its owner.
        let owner =
          others.first { $0 == subkey.fingerprint } ?? others.first { !people.contains($0) } ?? others.first
        if let owner {
          return ForeignSubkey(person: key.fingerprint, owner: owner, subkey: subkey.fingerprint)
        }
      }
    }
    return nil
  }
}
