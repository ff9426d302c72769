internal import KeyringModel
internal import OpenPGP

/// The detached signature of a policy, held against those who may sign one.
struct PolicyVerification {
  let engine: any SealingEngine

  /// - Parameter admins: the people one of whom must have signed.
  /// - Throws: `KeyringError.policyNotTrusted(.badSignature)` when none of them did, or `.engine`.
  func verify(
    _ policy: [UInt8], signature: [UInt8], admins: some Sequence<Fingerprint>
  ) throws(KeyringError) {
    guard try signer(of: policy, signature: signature, among: admins) != nil else {
      throw .policyNotTrusted(.badSignature)
    }
  }

  /// Returns who has signed a policy. However many may have, the signature is verified once.
  ///
  /// - Parameter admins: The people who may have signed, those who are preferred first.
  /// - Returns: nil when none of them has.
  /// - Throws: `KeyringError.engine`.
  func signer(
    of policy: [UInt8], signature: [UInt8], among admins: some Sequence<Fingerprint>
  ) throws(KeyringError) -> Fingerprint? {
    let facts: [SignatureFact]
    do {
      facts = try engine.verifyDetached(signature: signature, of: policy)
    } catch {
      switch error {
      case .corrupt, .notEncrypted, .message: return nil
      default: throw .engine(error, nil)
      }
    }
    // A key that has expired since was good when it signed.
    let good = facts.filter { $0.status == .good || $0.status == .expiredKey }
    let signers = Set(good.compactMap(\.primary))
    return admins.first(where: signers.contains)
  }
}
