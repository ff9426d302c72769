internal import KeyringModel
internal import OpenPGP

/// What a machine does about a policy that is not the one it has accepted: it accepts by itself what those whom it has
/// accepted have signed, and nothing else.
struct PolicyAcceptance {
  let tree: FileTree
  let host: HostContext
  /// Makes the engine for a keyring and its key files.
  let engine: (KeyringID, [Fingerprint: [UInt8]]) -> any SealingEngine
  /// The policies that the history has; asked for only when some are missing between.
  let past: () throws(KeyringError) -> PastPolicySteps

  /// Accepts the policy of the store when it follows the accepted one.
  ///
  /// - Parameter trusted: What is accepted now, with the distrust of what the store has.
  /// - Returns: What is accepted now; the same with a reason that says more where the policy cannot be accepted.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used, or a file error.
  func settle(_ trusted: TrustedPolicy) throws(KeyringError) -> TrustedPolicy {
    guard case .changed(let generation, let pinned)? = trusted.distrust, generation > pinned else {
      return trusted
    }
    do throws(KeyringError) {
      let link = try followed(from: trusted, to: try Self.step(in: tree))
      let isWritten = try PinStore(base: host.stateBase, keyring: link.policy.keyring).write(
        policy: link.policy, bytes: link.policy.encode(), keys: link.keys, signer: trusted.signer,
        replacing: trusted.pin)
      // Another process has accepted something, from which it starts again.
      guard isWritten else { return try settle(try TrustedPolicy(in: tree, stateBase: host.stateBase)) }
      return TrustedPolicy(policy: link.policy, signer: trusted.signer, keys: link.keys)
    } catch {
      guard case .policyNotTrusted(let reason) = error else { throw error }
      return trusted.distrusting(reason)
    }
  }

  /// The policy of a step, where it follows the accepted one.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` with the reason where it does not.
  func followed(
    from trusted: TrustedPolicy, to last: PolicyStep
  ) throws(KeyringError) -> PolicyChain.Link {
    let start = PolicyChain.Link(
      policy: trusted.policy, digest: ContentDigest(of: trusted.policy.encode()), keys: trusted.keys)
    let chain = PolicyChain(engine: engine(trusted.policy.keyring, trusted.keys))
    let stored: Policy
    do throws(PolicyError) {
      stored = try Policy.parse(last.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    if stored.generation == trusted.policy.generation + 1 { return try chain.follow([last], from: start) }
    guard let path = try past().path(to: last, from: { $0 == start.digest }) else {
      throw .policyNotTrusted(.stepsMissing(generation: stored.generation, pinned: trusted.policy.generation))
    }
    return try chain.follow(path.steps, from: start)
  }

  /// The policy that the store has now.
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
