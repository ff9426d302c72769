package import Encoding
package import KeyringModel

/// The result of verifying one signature.
package struct SignatureFact: Sendable, Equatable {
  /// The validity of the signature with the keys known to the engine.
  package enum Status: Sendable, Equatable {
    /// Correct, by a key that was valid when it signed. It may have expired or been superseded since.
    case good
    /// Correct, but the key was not valid when it signed.
    case invalidKey(SignerProblem)
    /// Not correct, expired, or made by a key that may not sign.
    case bad
    /// Made by a key of no person of the keyring, so it cannot be verified.
    case unknownKey
  }

  /// The primary fingerprint of the known key that signed; nil if the key is not known.
  package var primary: Fingerprint?
  /// The key or subkey that signed; nil if the signature names it by a short id only.
  package var key: Fingerprint?
  /// The validity of the signature.
  package var status: Status
  /// The time of the signature, as claimed by the signer.
  package var created: Timestamp

  /// Creates a fact from its parts.
  ///
  /// - Parameters:
  ///   - primary: The primary fingerprint, if known.
  ///   - key: The key or subkey that signed, if known.
  ///   - status: The validity of the signature.
  ///   - created: The time of the signature, as claimed by the signer.
  package init(primary: Fingerprint?, key: Fingerprint?, status: Status, created: Timestamp) {
    self.primary = primary
    self.key = key
    self.status = status
    self.created = created
  }
}
