internal import KeyringModel
internal import OpenPGP

extension ForeignSubkey {
  /// Finds a key or subkey in the new key file of a person that another person has, too.
  ///
  /// - Parameters:
  ///   - people: The people with new key files.
  ///   - files: The key files of all people.
  /// - Returns: The first such subkey; nil if there is none.
  init?(of people: Set<Fingerprint>, inFiles files: KeyFiles) {
    // GnuPG gets only these packets of key files. It may list fewer of them, because it cannot read the key.
    self.init(of: people, in: KeyPackets.certificates(in: files.values))
  }
}

extension PolicyDistrust {
  /// Finds a reason to refuse the new key file of a person.
  ///
  /// - Parameters:
  ///   - people: The people with new key files.
  ///   - files: The key files of all people.
  /// - Returns: `unusableKeyFile` or `foreignSubkey`; nil if all files can be accepted.
  init?(of people: Set<Fingerprint>, inFiles files: KeyFiles) {
    if let unusable = PolicyDistrust(ofUnusableFilesIn: files.filter { people.contains($0.key) }) {
      self = unusable
      return
    }
    guard let foreign = ForeignSubkey(of: people, inFiles: files) else { return nil }
    self = .foreignSubkey(foreign)
  }

  /// Finds a key file that GnuPG does not get, because it would keep GnuPG busy for too long.
  ///
  /// - Parameter files: The key files by person.
  /// - Returns: `unusableKeyFile` with the first such person; nil if there is none.
  init?(ofUnusableFilesIn files: KeyFiles) {
    for (person, file) in files.sorted(by: { $0.key < $1.key }) {
      guard let problem = KeyPackets.excess(in: file)?.problem else { continue }
      self = .unusableKeyFile(person, problem)
      return
    }
    return nil
  }
}
