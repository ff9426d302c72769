package import KeyringModel
internal import OpenPGP

/// Changes to people and groups that were made on this machine, to be applied on top of changes that were made
/// elsewhere concurrently.
package struct PolicyRebase: Sendable {
  /// The policy that this machine has accepted.
  package let accepted: Policy
  /// The keyring with the remote's policy, which is verified but not accepted yet.
  package let keyring: Keyring
  /// The edits of this machine that the remote's policy lacks.
  package let edits: [PolicyEdit]
  /// The key files that the edits need.
  package let keys: [Fingerprint: [UInt8]]
}

extension Keyring {
  /// Finds the edits to apply on top of the store's policy, if that differs from the accepted policy and both have a
  /// common ancestor. The new policy is accepted only by ``make(_:subject:progress:)`` with the edits, or by
  /// ``accept()`` if there are none. Until then only the accepted policy contains the edits.
  ///
  /// The policy in the store is verified if it follows an ancestor of the accepted policy by its digests. Each step
  /// must be signed by an admin of the policy before it who is also an admin in the accepted policy.
  ///
  /// - Parameters:
  ///   - path: The store's folder, with the remote's policy in it.
  ///   - host: The properties of this machine.
  ///   - past: The policies in the history.
  /// - Returns: The edits; none if the policy in the store already has them.
  /// - Throws: `KeyringError.team` with `noCommonPolicy`; `.policyNotTrusted` when the policy in the store cannot be
  ///   verified; `.engine`, or a file error.
  package static func reapply(
    at path: String, host: HostContext, past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyRebase {
    let tree = try StoreFolder.open(path)
    let mine = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    let last = try PolicyAcceptance.step(in: tree)
    let engine = host.engine(for: mine.policy.keyring, keys: mine.keys)
    var ancestors: [ContentDigest: PolicyStep] = [:]
    var previous = mine.policy.previous
    while let digest = previous, ancestors[digest] == nil, let step = past[digest] {
      ancestors[digest] = step
      // The ancestors of a policy that cannot be read are not known.
      previous = (try? Policy.parse(step.bytes))?.previous
    }
    let own = ContentDigest(of: mine.policy.encode())
    if last.digest == own {
      return PolicyRebase(
        accepted: mine.policy, keyring: try open(at: path, host: host), edits: [], keys: [:])
    }
    if let old = ancestors[last.digest] {
      // The store has an ancestor of the accepted policy: an old version was restored.
      let generation = (try? Policy.parse(old.bytes))?.generation ?? 0
      throw .policyNotTrusted(.changed(generation: generation, pinned: mine.policy.generation))
    }
    guard let way = past.path(to: last, from: { $0 == own || ancestors[$0] != nil }) else {
      throw .team(.noCommonPolicy)
    }
    let base: PolicyChain.Link
    if let step = ancestors[way.start] {
      base = try link(step, like: mine, in: past)
    } else {
      base = PolicyChain.Link(policy: mine.policy, digest: own, keys: mine.keys)
    }
    // A person who was removed here must not return through a policy that branches off before the removal.
    let theirs = try PolicyChain(engine: engine).follow(
      way.steps, from: base,
      signedAlsoBy: PolicyChain.Link(policy: mine.policy, digest: own, keys: mine.keys), in: past)
    let edits = mine.policy.edits(since: base.policy)
    var keys: [Fingerprint: [UInt8]] = [:]
    for edit in edits {
      switch edit {
      case .add(let person, _, _, _), .key(let person, _): keys[person] = mine.keys[person]
      default: break
      }
    }
    let trusted = TrustedPolicy(
      policy: theirs.policy, signer: mine.signer, keys: theirs.keys, replacing: mine.pin)
    let keyring = Keyring(tree: tree, trusted: trusted, engine: engine.with(keys: theirs.keys), host: host)
    let missing = edits.filter { !keyring.policy.has($0) }
    return PolicyRebase(accepted: mine.policy, keyring: keyring, edits: missing, keys: keys)
  }

  /// Accepts a verified policy.
  ///
  /// - Throws: `KeyringError.team` with `overtaken` if another process has accepted a policy since; or a file error.
  package func accept() throws(KeyringError) {
    guard trusted.isReplacing else { return }
    let isWritten = try PinStore(base: host.stateBase, keyring: policy.keyring).write(
      policy: policy, bytes: policy.encode(), keys: trusted.keys, signer: trusted.signer,
      replacing: trusted.pin)
    guard isWritten else { throw .team(.overtaken) }
  }

  /// Returns an ancestor of the accepted policy, with the key files that it names or that were accepted later.
  private static func link(
    _ step: PolicyStep, like mine: TrustedPolicy, in past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyChain.Link {
    let policy: Policy
    do throws(PolicyError) {
      policy = try Policy.parse(step.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    var keys: [Fingerprint: [UInt8]] = [:]
    for (person, facts) in policy.people where facts.removed == nil {
      func isNamed(_ file: [UInt8]?) -> Bool { file.map { facts.key == ContentDigest(of: $0) } ?? false }
      let file =
        [step.keys[person], mine.keys[person]].first(where: isNamed)
        ?? past.versions(of: step.digest).lazy.map { $0.keys[person] }.first(where: isNamed)
      guard let file = file.flatMap({ $0 }) ?? (facts.key == nil ? mine.keys[person] : nil) else {
        throw .policyNotTrusted(.keyMissing(person))
      }
      keys[person] = file
    }
    return PolicyChain.Link(policy: policy, digest: step.digest, keys: keys)
  }
}

extension Policy {
  /// Returns true if an edit would change nothing.
  fileprivate func has(_ edit: PolicyEdit) -> Bool {
    // An invalid edit is reported when it is applied.
    guard let next = try? successor(by: [edit], previous: ContentDigest(of: []), at: .latest) else {
      return false
    }
    return next.people == people && next.groups == groups && next.accepted == accepted && next.files == files
  }
}
