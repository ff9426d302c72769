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
    let facts: [SignatureFact]
    do {
      facts = try engine.verifyDetached(signature: signature, of: policy)
    } catch {
      switch error {
      case .corrupt, .notEncrypted, .message: throw .policyNotTrusted(.badSignature)
      default: throw .engine(error, nil)
      }
    }
    // A key that has expired since was good when it signed.
    let isSigned = facts.contains { fact in
      guard let primary = fact.primary, fact.status == .good || fact.status == .expiredKey else {
        return false
      }
      return admins.contains(primary)
    }
    guard isSigned else { throw .policyNotTrusted(.badSignature) }
  }
}
