package import KeyringModel

/// A person to encrypt to.
package struct Recipient: Sendable, Hashable {
  /// The primary fingerprint.
  package let person: Fingerprint
  /// The fingerprints of the subkeys, or of the primary key, to encrypt to; empty for the newest valid one.
  package let subkeys: [Fingerprint]

  /// Creates a recipient.
  ///
  /// - Parameters:
  ///   - person: The primary fingerprint.
  ///   - subkeys: The subkeys to encrypt to; empty for the newest valid one.
  package init(_ person: Fingerprint, subkeys: [Fingerprint] = []) {
    (self.person, self.subkeys) = (person, subkeys)
  }
}
