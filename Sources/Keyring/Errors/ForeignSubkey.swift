public import KeyringModel

/// A subkey of one person in the new key file of another person.
///
/// Anyone can bind the public half of another person's subkey to their own key, without a secret (RFC 9580, 5.2.1.8).
/// It would not be possible to tell whose signature a record has, and who can read an item (threat T52).
public struct ForeignSubkey: Error, Equatable, Sendable {
  /// The person whose new key file has the subkey.
  public let person: Fingerprint
  /// The other person whose key has it.
  public let owner: Fingerprint
  /// The subkey.
  public let subkey: Fingerprint

  /// Creates a value from its parts.
  package init(person: Fingerprint, owner: Fingerprint, subkey: Fingerprint) {
    (self.person, self.owner, self.subkey) = (person, owner, subkey)
  }
}
