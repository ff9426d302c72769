public import KeyringModel

/// A subkey of one person in the key file of another person.
///
/// Anyone can bind the public half of another person's subkey to their own key, without a secret (RFC 9580, 5.2.1.8).
/// It would not be possible to tell whose signature a record has, and who can read an item (threat T52). If the subkey is
/// the primary key of the other person, GnuPG imports only the first of the two keys.
public struct ForeignSubkey: Error, Equatable, Sendable {
  /// The person whose key file has the subkey.
  public let person: Fingerprint
  /// The other person whose key has it.
  public let owner: Fingerprint
  /// The subkey.
  public let subkey: Fingerprint

  /// Creates a value from its parts.
  package init(person: Fingerprint, owner: Fingerprint, subkey: Fingerprint) {
    (self.person, self.owner, self.subkey) = (person, owner, subkey)
  }

  /// Finds a key or subkey of a person that another person has, too. Its use and its flags do not matter.
  ///
  /// - Parameters:
  ///   - people: The people whose keys are new.
  ///   - keys: The fingerprints of the keys and subkeys of all people.
  /// - Returns: The first such subkey; nil if there is none.
  package init?(of people: Set<Fingerprint>, in keys: [Fingerprint: Set<Fingerprint>]) {
    var owners: [Fingerprint: [Fingerprint]] = [:]
    for (person, subkeys) in keys { for subkey in subkeys { owners[subkey, default: []].append(person) } }
    for person in people.sorted() {
      for subkey in (keys[person] ?? []).sorted() where subkey != person {
        let others = (owners[subkey] ?? []).filter { $0 != person }.sorted()
        // The owner of a primary key is certain, otherwise a person who had the subkey before is named as its owner.
        let owner =
          others.first { $0 == subkey } ?? others.first { !people.contains($0) } ?? others.first
        guard let owner else { continue }
        self.init(person: person, owner: owner, subkey: subkey)
        return
      }
    }
    return nil
  }

  /// Finds a primary key that another key has as a subkey.
  ///
  /// - Parameter keys: The fingerprints of keys, each with its subkeys.
  /// - Returns: The first such primary key; nil if there is none.
  init?(ofPrimaryKeyIn keys: [Fingerprint: Set<Fingerprint>]) {
    for (person, subkeys) in keys.sorted(by: { $0.key < $1.key }) {
      guard let owner = subkeys.sorted().first(where: { $0 != person && keys[$0] != nil }) else { continue }
      self.init(person: person, owner: owner, subkey: owner)
      return
    }
    return nil
  }
}
