internal import KeyringModel
internal import OpenPGP

/// Verifies that the detached signature of a policy was made by a person who may sign it.
struct PolicyVerification {
  let engine: any OpenPGPEngine
  /// The policy that names the people of the engine, for messages.
  let people: Policy

  /// Checks that an admin has signed a policy.
  ///
  /// - Parameter admins: The people who may have signed.
  /// - Returns: The admin.
  /// - Throws: `KeyringError.policyNotTrusted(.badSignature)` if none of them has, or the errors of
  ///   `signer(of:signature:among:)`.
  @discardableResult
  func verify(
    _ policy: [UInt8], signature: [UInt8], admins: some Sequence<Fingerprint>
  ) throws(KeyringError) -> Fingerprint {
    guard let signer = try signer(of: policy, signature: signature, among: admins) else {
      throw .policyNotTrusted(.badSignature)
    }
    return signer
  }

  /// Returns the person who has signed a policy. The signature is verified only once, regardless of the number of
  /// admins.
  ///
  /// - Parameter admins: The people who may have signed, the preferred ones first.
  /// - Returns: nil if none of them has signed.
  /// - Throws: `KeyringError.team` with `unreadableKey` if the signature may be of a person whose key GnuPG cannot read;
  ///   `.policyNotTrusted(.foreignSubkey)` if a person has the primary key of another one; `.engine`.
  func signer(
    of policy: [UInt8], signature: [UInt8], among admins: some Sequence<Fingerprint>
  ) throws(KeyringError) -> Fingerprint? {
    let facts: [SignatureFact]
    do {
      facts = try engine.verifyDetached(signature: signature, of: policy)
    } catch {
      throw people.error(error)
    }
    let signers = Set(facts.filter { $0.status == .good }.compactMap(\.primary))
    return admins.first(where: signers.contains)
  }
}
