internal import KeyringModel
internal import OpenPGP

/// Decides whether to accept a policy that differs from the accepted one. A policy is accepted automatically only if
/// accepted admins have signed it.
struct PolicyAcceptance {
  let tree: FileTree
  let host: HostContext
  /// Creates the engine for a keyring and its key files.
  let engine: (KeyringID, [Fingerprint: [UInt8]]) -> any OpenPGPEngine

  /// Accepts the policy of the store if it follows the accepted one.
  ///
  /// - Parameters:
  ///   - trusted: The accepted policy, and the reason why the policy in the store is not trusted.
  ///   - past: Returns the policies in the history. Called only if the policy of the store is newer than the accepted one.
  /// - Returns: The accepted policy. If the policy in the store cannot be accepted, the old one with a more exact
  ///   reason.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used, or a file error.
  func settle(
    _ trusted: TrustedPolicy, past makePast: () throws(KeyringError) -> HistoricalPolicies
  ) throws(KeyringError) -> TrustedPolicy {
    guard case .changed(let generation, let pinned)? = trusted.distrust, generation > pinned else {
      return trusted
    }
    let past = try makePast()
    do throws(KeyringError) {
      let step = try Self.step(in: tree)
      // Plain git may have brought a policy that a push has restored, also in a merge that is not complete.
      let branch = past.withBranch(of: step.digest)
      let link = try newest(step, after: trusted, in: branch)
      if past.problem != nil {
        throw KeyringError.policyNotTrusted(.historyUnreadable(generation: generation))
      }
      let isWritten = try PinStore(base: host.stateBase, keyring: link.policy.keyring).write(
        policy: link.policy, bytes: link.policy.encode(), keys: link.keys, signer: trusted.signer,
        replacing: trusted.pin)
      // Another process has accepted a policy concurrently, so the comparison starts again from that one.
      guard isWritten else {
        return try settle(try TrustedPolicy(in: tree, stateBase: host.stateBase), past: makePast)
      }
      return TrustedPolicy(policy: link.policy, signer: trusted.signer, keys: link.keys)
    } catch {
      guard case .policyNotTrusted(let reason) = error else { throw error }
      return trusted.distrusting(past.problem == nil ? reason : .historyUnreadable(generation: generation))
    }
  }

  /// Returns the policy of a step if it is the newest one after the accepted one.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` with `restored` or `contradictory`, or because it does not follow; `.engine`.
  private func newest(
    _ step: PolicyStep, after trusted: TrustedPolicy, in branch: HistoricalPolicies
  ) throws(KeyringError) -> PolicyChain.Link {
    let chain = PolicyChain(engine: engine(trusted.policy.keyring, trusted.keys))
    let newest = try chain.newest(after: trusted.link, in: branch)?.link
    if let newest, newest.digest == step.digest { return newest }
    let link = try followed(from: trusted, to: step, past: branch)
    // A policy that is not committed may follow the newest one of the branch.
    guard let newest,
      branch.isOnBranch(step.digest) || !branch.ancestors(of: link.policy).contains(newest.digest)
    else { return link }
    throw .policyNotTrusted(
      .restored(generation: link.policy.generation, newer: newest.policy.generation))
  }

  /// Returns the policy of a step if it follows the accepted one.
  ///
  /// - Parameters:
  ///   - trusted: The accepted policy.
  ///   - last: The step.
  ///   - past: The policies in the history, with those of the branch that has the step.
  /// - Throws: `KeyringError.policyNotTrusted` with the reason if it does not.
  func followed(
    from trusted: TrustedPolicy, to last: PolicyStep, past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyChain.Link {
    let start = trusted.link
    let chain = PolicyChain(engine: engine(trusted.policy.keyring, trusted.keys))
    let stored: Policy
    do throws(PolicyError) {
      stored = try Policy.parse(last.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    var steps = [last]
    if stored.generation != trusted.policy.generation + 1 {
      guard stored.generation > trusted.policy.generation else {
        throw .policyNotTrusted(
          .changed(generation: stored.generation, pinned: trusted.policy.generation))
      }
      guard let path = past.path(to: last, from: { $0 == start.digest }) else {
        throw .policyNotTrusted(
          .stepsMissing(generation: stored.generation, pinned: trusted.policy.generation))
      }
      steps = path.steps
    }
    // A later push may have replaced a key file or the signature. Then those of the history are used.
    return try chain.follow(steps, from: start, in: past)
  }

  /// Returns the policy that is in the store now.
  static func step(in tree: FileTree) throws(KeyringError) -> PolicyStep {
    let (bytes, policy) = try TrustedPolicy.read(in: tree)
    let signature = try files(tree.read(StoreLayout.policySignature, limit: StoreLayout.signatureLimit))
    var reader = KeyFileReader(tree)
    var keys: [Fingerprint: [UInt8]] = [:]
    for fingerprint in policy.people.keys {
      if let bytes = try files(reader.read(fingerprint)) { keys[fingerprint] = bytes }
    }
    return PolicyStep(bytes: bytes, signature: signature, keys: keys)
  }
}
