public import Encoding
package import KeyringModel

/// The reason why a correct signature is not valid: the key that made it was not valid then.
public enum SignerProblem: Sendable, Equatable {
  /// The key is revoked: for a reason that makes all its signatures invalid, or before it signed.
  case revoked(KeyRevocation)
  /// The key had expired at this time.
  case expired(Timestamp)
}

extension PublicKey {
  /// Judges a correct signature by this certificate.
  ///
  /// GnuPG does not do this: it reports that the key has expired or is revoked now, whatever the times and the reason
  /// are. The result does not depend on the clock. A signature stays valid when its key expires or is superseded later,
  /// and is never valid if another person may have the secret key (RFC 9580, 5.2.3.31). The time of a signature is the
  /// claim of its signer.
  ///
  /// - Parameters:
  ///   - key: The primary key or subkey that made the signature.
  ///   - time: The time of the signature.
  /// - Returns: `good`, `invalidKey`, or `bad` if the certificate has no such key for signing.
  package func judge(signatureBy key: Fingerprint, made time: Timestamp) -> SignatureFact.Status {
    guard let primary = subkeys.first, let part = subkeys.first(where: { $0.fingerprint == key }),
      part.canSign, !part.invalid, !primary.invalid,
      part.created.microseconds - Self.clockTolerance <= time.microseconds
    else { return .bad }
    let revocations = [primary, part].compactMap(\.revocation)
    if let hard = revocations.first(where: \.isHard) { return .invalidKey(.revoked(hard)) }
    if let soft = revocations.first(where: { $0.created <= time }) { return .invalidKey(.revoked(soft)) }
    if let expiry = [primary, part].compactMap(\.expires).min(), expiry <= time {
      return .invalidKey(.expired(expiry))
    }
    return .good
  }
}
