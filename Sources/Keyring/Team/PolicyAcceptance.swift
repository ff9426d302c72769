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
      let link = try followed(from: trusted)
      try PinStore(base: host.stateBase, keyring: link.policy.keyring).write(
        policy: link.policy, bytes: link.policy.encode(), keys: link.keys, signer: trusted.signer)
      return TrustedPolicy(policy: link.policy, signer: trusted.signer, keys: link.keys)
    } catch {
      guard case .policyNotTrusted(let reason) = error else { throw error }
      return trusted.distrusting(reason)
    }
  }

  private func followed(from trusted: TrustedPolicy) throws(KeyringError) -> PolicyChain.Link {
    let last = try Self.step(in: tree)
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
    let limit = StoreLayout.smallFileLimit
    let signature = try files(tree.read(StoreLayout.policySignature, limit: limit))
    var keys: [Fingerprint: [UInt8]] = [:]
    for fingerprint in policy.people.keys {
      let file = StoreLayout.keyFile(fingerprint)
      if let bytes = try files(tree.read(file, limit: limit)) { keys[fingerprint] = bytes }
    }
    return PolicyStep(bytes: bytes, signature: signature, keys: keys)
  }
}
