public import KeyringModel
package import OpenPGP

/// The question whether this machine should accept a store's policy, with all that is needed to answer it.
///
/// Nothing is accepted before `accept()`: a person is to compare the fingerprints first.
public struct Trust: Sendable {
  /// How the store's policy relates to the one that this machine has accepted.
  public enum Standing: Sendable, Equatable {
    /// This machine has accepted none yet.
    case first
    /// What this machine has accepted cannot be read, so nothing is known about it.
    case forgotten
    /// It is the accepted one, to the last byte, and so are the key files.
    case accepted
    /// It is the accepted one, but a key file is not; ``Trust/changedKeys`` names the people.
    case keysChanged
    /// It has a higher generation than the accepted one.
    case newer
    /// It has the generation of the accepted one but another content.
    case forked
    /// It has a lower generation: an old policy that somebody put back (threat T2).
    case older
  }

  /// The policy of the store.
  public let policy: Policy
  /// The policy that this machine has accepted before, if any.
  public let accepted: Policy?
  /// How the two relate.
  public let standing: Standing
  /// The admin whose signature on the policy is good: one of those that were accepted before, or where none
  /// were, one that the policy itself names.
  public let signedBy: Fingerprint?
  /// The person in the policy whose secret key this user has, who will sign what is written.
  public let signer: Fingerprint?
  /// The people whose key file is not the one that this machine has accepted of them, sorted.
  ///
  /// Nothing signs a key file but the key itself, so an older one that somebody put back looks as good as a newer
  /// one: what `gpg --show-keys` says about it has to be compared with what is known from elsewhere.
  public let changedKeys: [Fingerprint]
  /// Why the policy cannot be accepted: it is unsigned, or not signed by such an admin.
  public let obstacle: PolicyDistrust?
  /// What cryptography it took to find all of this out.
  package let engineStatistics: EngineStatistics
  private let bytes: [UInt8]
  private let keys: [Fingerprint: [UInt8]]
  private let pins: PinStore
  /// The pin that the question is about.
  private let pin: Pin?

  /// Reads and verifies the store's policy, once, and finds out who this user is in it.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when the policy is unreadable or a key file is missing, `.noStore`,
  ///   `.unsafeFolder`, `.engine` when GnuPG cannot be used, or a file error.
  public init(at path: String, host: HostContext) throws(KeyringError) {
    try self.init(at: path, host: host, engine: nil)
  }

  /// Does the same with an engine that may be a stand-in for GnuPG, with the keys this user has, and with faults
  /// planned for `accept()`.
  package init(
    at path: String, host: HostContext, engine standIn: (any SealingEngine)?, own: [Fingerprint]? = nil,
    faults: FaultPlan? = nil
  ) throws(KeyringError) {
    let tree = try StoreFolder.open(path)
    let (bytes, policy) = try TrustedPolicy.read(in: tree)
    let keys = try TrustedPolicy.keys(of: policy, in: tree)
    let pins = PinStore(base: host.stateBase, keyring: policy.keyring, faults: faults)
    var before: PinStore.Accepted?
    var isForgotten = false
    var pin: Pin?
    do {
      before = try pins.read()
      pin = before?.pin
    } catch {
      guard case .policyNotTrusted(.pinUnreadable) = error else { throw error }
      isForgotten = true
      // Who the admins were may still be known.
      pin = try? pins.readPin()
    }
    let engine = standIn ?? host.engine(for: policy.keyring, keys: keys)
    let signature = try files { () throws(FileError) in
      try tree.read(StoreLayout.policySignature, limit: StoreLayout.signatureLimit)
    }
    let signedBy = try signature.flatMap { signature throws(KeyringError) in
      try PolicyVerification(engine: engine)
        .signer(of: bytes, signature: signature, among: pin?.admins ?? policy.admins)
    }
    let candidates = if let own { own } else { try OwnKeys(host: host).candidates.map(\.fingerprint) }

    self.policy = policy
    accepted = before?.policy
    changedKeys = before?.pin.changedKeys(keys) ?? []
    standing =
      isForgotten
      ? .forgotten
      : Self.standing(of: policy, bytes, before?.pin, areKeysKnown: changedKeys.isEmpty)
    self.signedBy = signedBy
    obstacle =
      signature == nil ? .unsigned : signedBy == nil ? .badSignature : Self.strangeKey(policy, keys)
    signer = candidates.first { policy.people[$0].map { $0.removed == nil } ?? false }
    engineStatistics = engine.statistics
    self.bytes = bytes
    self.keys = keys
    self.pins = pins
    self.pin = pin
  }

  /// Accepts the policy, and the key files of its people, on this machine.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` with the obstacle; `.engine(.notARecipient)` when this user has no
  ///   key of anybody in the policy; `.team` with `overtaken` when another process has accepted a policy since; or a
  ///   file error.
  public func accept() throws(KeyringError) {
    if let obstacle { throw .policyNotTrusted(obstacle) }
    guard let signer else { throw .engine(.notARecipient(recipients: []), nil) }
    let isWritten = try pins.write(
      policy: policy, bytes: bytes, keys: keys, signer: signer, replacing: pin)
    guard isWritten else { throw .team(.overtaken) }
  }

  /// The first key file that is not the one which the policy names; what is signed is the digest.
  private static func strangeKey(_ policy: Policy, _ keys: [Fingerprint: [UInt8]]) -> PolicyDistrust? {
    for (fingerprint, bytes) in keys.sorted(by: { $0.key < $1.key }) {
      guard let person = policy.people[fingerprint], let key = person.key else { continue }
      if key != ContentDigest(of: bytes) { return .keyExchanged(fingerprint, name: person.name) }
    }
    return nil
  }

  private static func standing(
    of policy: Policy, _ bytes: [UInt8], _ pin: Pin?, areKeysKnown: Bool
  ) -> Standing {
    guard let pin else { return .first }
    if ContentDigest(of: bytes) == pin.digest { return areKeysKnown ? .accepted : .keysChanged }
    if policy.generation > pin.generation { return .newer }
    return policy.generation == pin.generation ? .forked : .older
  }
}
