package import KeyringModel
package import OpenPGP

/// A decision about whether this machine should accept a store's policy, with the facts that it requires.
///
/// Nothing is accepted before `accept()`, so that the user can compare the fingerprints first.
package struct Trust: Sendable {
  /// The relation of the store's policy to the policy that this machine has accepted.
  package enum Standing: Sendable, Equatable {
    /// This machine has not accepted a policy yet.
    case first
    /// The accepted policy of this machine cannot be read, so the relation is unknown.
    case forgotten
    /// The policy is the accepted one, byte for byte, and so are the key files.
    case accepted
    /// The policy is the accepted one, but a key file is not. ``Trust/changedKeys`` has the fingerprints.
    case keysChanged
    /// The policy has a higher generation than the accepted one.
    case newer
    /// The policy has the same generation as the accepted one but different content.
    case forked
    /// The policy has a lower generation: an old policy was restored (threat T2).
    case older
  }

  /// The policy of the store.
  package let policy: Policy
  /// The policy that this machine has accepted so far; nil if there is none or it cannot be read.
  package let accepted: Policy?
  /// The relation of the two policies.
  package let standing: Standing
  /// The admin who made the valid signature of the policy: an admin of the accepted policy, one whom a policy after it has
  /// made an admin, or an admin of the policy itself if none was accepted.
  package private(set) var signedBy: Fingerprint?
  /// The person in the policy whose secret key this user has, and who will sign new records: the one that this machine
  /// prefers, or another one if that is not a member or its key cannot be used.
  package let signer: Fingerprint?
  /// The person whom this machine has preferred until now; nil if it has accepted no policy.
  package let preferred: Fingerprint?
  /// True if this machine has preferred another person until now.
  package let changesSigner: Bool
  /// The people whose key file differs from the one that this machine has accepted, sorted.
  ///
  /// A key file is signed only by the key itself, so an older file that was restored looks as valid as a newer one. The
  /// user has to compare the output of `gpg --show-keys` with information from another source.
  package let changedKeys: [Fingerprint]
  /// The reason why the policy cannot be accepted, such as a missing signature or one by another person; nil if it can.
  package private(set) var obstacle: PolicyDistrust?
  /// The cryptographic operations that were needed to determine these facts.
  package let engineStatistics: EngineStatistics
  private let engine: any OpenPGPEngine
  private let bytes: [UInt8]
  private let keys: [Fingerprint: [UInt8]]
  private let pins: PinStore
  /// The pin on which the decision is based.
  private let pin: Pin?

  /// Reads and verifies the store's policy once, and determines which person in it this user is.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` if the policy is unreadable or a key file is missing, `.noStore`,
  ///   `.unsafeFolder`, `.engine` if GnuPG cannot be used, or a file error.
  package init(at path: String, host: HostContext) throws(KeyringError) {
    try self.init(at: path, host: host, engine: nil)
  }

  /// Verifies a policy that was received for a store and is not in its folder yet.
  ///
  /// - Parameters:
  ///   - step: The received policy with its signature and key files.
  ///   - host: The facts about this machine.
  /// - Throws: `KeyringError.policyNotTrusted` if the policy is unreadable or a key file is missing, `.engine` if GnuPG
  ///   cannot be used, or a file error.
  package init(_ step: PolicyStep, host: HostContext) throws(KeyringError) {
    let policy: Policy
    do throws(PolicyError) {
      policy = try Policy.parse(step.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in policy.people where person.removed == nil {
      guard let bytes = step.keys[fingerprint] else { throw .policyNotTrusted(.keyMissing(fingerprint)) }
      keys[fingerprint] = bytes
    }
    let received = PolicyStep(bytes: step.bytes, signature: step.signature, keys: keys)
    try self.init(received, policy, host: host, engine: nil, own: nil, faults: nil)
  }

  /// Reads and verifies the store's policy like `init(at:host:)`, with an engine that may be a test double for GnuPG,
  /// the user's keys, and faults to inject into `accept()`.
  package init(
    at path: String, host: HostContext, engine standIn: (any OpenPGPEngine)?, own: [Fingerprint]? = nil,
    faults: FaultPlan? = nil
  ) throws(KeyringError) {
    let tree = try StoreFolder.open(path)
    try TrustedPolicy.removeSecondNames(in: tree, timeout: host.lockTimeout)
    let (bytes, policy) = try TrustedPolicy.read(in: tree)
    let keys = try TrustedPolicy.keys(of: policy, in: tree)
    let signature = try files { () throws(FileError) in
      try tree.read(StoreLayout.policySignature, limit: StoreLayout.signatureLimit)
    }
    let step = PolicyStep(bytes: bytes, signature: signature, keys: keys)
    try self.init(step, policy, host: host, engine: standIn, own: own, faults: faults)
  }

  private init(
    _ step: PolicyStep, _ policy: Policy, host: HostContext, engine standIn: (any OpenPGPEngine)?,
    own: [Fingerprint]?, faults: FaultPlan?
  ) throws(KeyringError) {
    let (bytes, keys, signature) = (step.bytes, step.keys, step.signature)
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
      // The pin may still name the admins.
      pin = try? pins.readPin()
    }
    let admins = pin?.admins ?? policy.admins
    // GnuPG gets the other key files only after the signature is verified.
    let judged = keys.filter { admins.contains($0.key) }
    let engine = standIn ?? host.engine(for: policy.keyring, keys: judged)
    // GnuPG does not get such a file, so it could not tell whose signature this is.
    let unusable = PolicyDistrust(ofUnusableFilesIn: judged)
    let signedBy = try (unusable == nil ? signature : nil).flatMap { signature throws(KeyringError) in
      try PolicyVerification(engine: engine, people: policy).signer(
        of: bytes, signature: signature, among: admins)
    }
    let preferred = before?.signer
    let candidates = if let own { own } else { try OwnKeys(host: host).preferring(preferred) }

    self.policy = policy
    accepted = before?.policy
    changedKeys = before?.pin.changedKeys(keys) ?? []
    standing =
      isForgotten
      ? .forgotten
      : Self.standing(of: policy, bytes, before?.pin, areKeysKnown: changedKeys.isEmpty)
    self.signedBy = signedBy
    obstacle =
      signature == nil
      ? .unsigned : unusable ?? (signedBy == nil ? .badSignature : Self.strangeKey(policy, keys))
    let signer = candidates.first(where: policy.isMember)
    self.signer = signer
    self.preferred = preferred
    changesSigner = preferred.map { $0 != signer } ?? false
    engineStatistics = engine.statistics
    self.engine = engine
    self.bytes = bytes
    self.keys = keys
    self.pins = pins
    self.pin = pin
  }

  /// Returns true if a branch has the policy.
  ///
  /// - Parameter past: The policies in the history, with those of the branch.
  package func isOnBranch(of past: HistoricalPolicies) -> Bool { past.isOnBranch(ContentDigest(of: bytes)) }

  /// Returns the decision with the policies of the history. They show whether a person has signed the policy who was made
  /// an admin after the accepted policy.
  ///
  /// - Parameter past: The policies in the history, with those of the branch that has this one.
  /// - Throws: `KeyringError.engine`.
  package func following(_ past: HistoricalPolicies) throws(KeyringError) -> Trust {
    guard obstacle == .badSignature, let accepted, let pin, let start = past[pin.digest] else { return self }
    let link = PolicyChain.Link(policy: accepted, digest: pin.digest, keys: start.keys(namedIn: accepted))
    let digest = ContentDigest(of: bytes)
    let lines = try PolicyChain(engine: engine).lines(after: link, in: past.withBranch(of: digest))
    guard let last = lines.joined().first(where: { $0.link.digest == digest }) else { return self }
    var trust = self
    trust.signedBy = last.signer
    trust.obstacle = Self.strangeKey(policy, keys)
    return trust
  }

  /// Checks that this policy is the newest one of its history.
  ///
  /// - Parameter past: The policies in the history, with those of the branch that has this one.
  /// - Throws: `KeyringError.policyNotTrusted` with `restored`; with `contradictory` if this is the last policy of one of
  ///   two sides; `.engine`.
  package func requireNewest(in past: HistoricalPolicies) throws(KeyringError) {
    let last = PolicyChain.Link(policy: policy, digest: ContentDigest(of: bytes), keys: keys)
    let branch = past.withBranch(of: last.digest)
    let chain = PolicyChain(engine: engine)
    let following = try chain.lines(after: last, in: branch).compactMap { $0.last?.link.policy.generation }
    if let newer = following.max() {
      throw .policyNotTrusted(.restored(generation: policy.generation, newer: newer))
    }
    guard let first = Self.firstFork(before: last, in: branch),
      let newest = try chain.newest(after: first, in: branch)?.link, newest.digest != last.digest
    else { return }
    throw .policyNotTrusted(
      .restored(generation: policy.generation, newer: newest.policy.generation))
  }

  /// Returns the first policy before another one from which a second side starts; nil if there is none.
  private static func firstFork(
    before last: PolicyChain.Link, in branch: HistoricalPolicies
  ) -> PolicyChain.Link? {
    var next = last.digest
    var fork: ContentDigest?
    for digest in branch.ancestors(of: last.policy) {
      if branch.successors(of: digest).contains(where: { $0 != next }) { fork = digest }
      next = digest
    }
    // A policy that cannot be read has no key files with which its successors can be verified.
    guard let fork, let step = branch[fork], let policy = try? Policy.parse(step.bytes) else { return nil }
    return PolicyChain.Link(policy: policy, digest: fork, keys: step.keys(namedIn: policy))
  }

  /// Accepts the policy and the key files of its members on this machine.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` with the obstacle; `.engine(.notARecipient)` if this user has no secret
  ///   key of a member; `.team` with `overtaken` if another process has accepted a policy since; or a file error.
  package func accept() throws(KeyringError) {
    if let obstacle { throw .policyNotTrusted(obstacle) }
    guard let signer else { throw .engine(.notARecipient(recipients: []), nil) }
    let isWritten = try pins.write(
      policy: policy, bytes: bytes, keys: keys, signer: signer, replacing: pin)
    guard isWritten else { throw .team(.overtaken) }
  }

  /// Returns the reason to refuse the first key file that differs from the digest in the policy, or that cannot be
  /// accepted. Only the digest is signed.
  private static func strangeKey(_ policy: Policy, _ keys: KeyFiles) -> PolicyDistrust? {
    for (fingerprint, bytes) in keys.sorted(by: { $0.key < $1.key }) {
      guard let person = policy.people[fingerprint], let key = person.key else { continue }
      if key != ContentDigest(of: bytes) { return .keyExchanged(fingerprint, name: person.name) }
    }
    return PolicyDistrust(of: Set(keys.keys), inFiles: keys)
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
