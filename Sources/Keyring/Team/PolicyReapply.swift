package import KeyringModel
internal import OpenPGP

/// Changes of people and groups that this machine has made, put on top of those that somebody else has made meanwhile.
package struct PolicyReapply: Sendable {
  /// The policy that this machine has accepted.
  package let accepted: Policy
  /// The keyring with their policy, which is believed and not accepted yet.
  package let keyring: Keyring
  /// The edits of this machine that their policy does not have.
  package let edits: [PolicyEdit]
  /// The key files that the edits need.
  package let keys: [Fingerprint: [UInt8]]
}

extension Keyring {
  /// Finds out how to put this machine's changes on top of the store's policy, where that is another one of the same
  /// origin. Nothing is accepted before ``make(_:subject:progress:)`` has put the edits on top of it, or
  /// ``accept()`` where there are none: until then the accepted policy is all that tells of them.
  ///
  /// Theirs is believed when it follows a policy that the accepted one has come from, as digests tell, and when each of
  /// its steps is signed by somebody who is an admin in the one before and in the accepted one as well.
  ///
  /// - Parameters:
  ///   - path: The store's folder, with their policy in it.
  ///   - host: What to know of the machine.
  ///   - past: The policies that the history has.
  /// - Returns: What to do; no edits when theirs has them all.
  /// - Throws: `KeyringError.team` with `noCommonPolicy`; `.policyNotTrusted` when theirs cannot be believed; `.engine`,
  ///   or a file error.
  package static func reapply(
    at path: String, host: HostContext, past: PastPolicySteps
  ) throws(KeyringError) -> PolicyReapply {
    let tree = try StoreFolder.open(path)
    let mine = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    let last = try PolicyAcceptance.step(in: tree)
    let engine = host.engine(for: mine.policy.keyring, keys: mine.keys)
    var ancestors: [ContentDigest: PolicyStep] = [:]
    var previous = mine.policy.previous
    while let digest = previous, ancestors[digest] == nil, let step = past[digest] {
      ancestors[digest] = step
      // One that cannot be read leads no further.
      previous = (try? Policy.parse(step.bytes))?.previous
    }
    let own = ContentDigest(of: mine.policy.encode())
    if last.digest == own {
      return PolicyReapply(
        accepted: mine.policy, keyring: try open(at: path, host: host), edits: [], keys: [:])
    }
    if let old = ancestors[last.digest] {
      // One of those that led to the accepted one: somebody has put it back.
      let generation = (try? Policy.parse(old.bytes))?.generation ?? 0
      throw .policyNotTrusted(.changed(generation: generation, pinned: mine.policy.generation))
    }
    guard let way = past.path(to: last, from: { $0 == own || ancestors[$0] != nil }) else {
      throw .team(.noCommonPolicy)
    }
    let base: PolicyChain.Link
    if let step = ancestors[way.start] {
      base = try link(step, like: mine)
    } else {
      base = PolicyChain.Link(policy: mine.policy, digest: own, keys: mine.keys)
    }
    // Whoever has been removed here since cannot come back by a policy that starts before that.
    let theirs = try PolicyChain(engine: engine).follow(
      way.steps, from: base,
      signedAlsoBy: PolicyChain.Link(policy: mine.policy, digest: own, keys: mine.keys))
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
    return PolicyReapply(accepted: mine.policy, keyring: keyring, edits: missing, keys: keys)
  }

  /// Accepts a policy that is believed.
  ///
  /// - Throws: `KeyringError.team` with `overtaken` if another process has accepted a policy since; or a file error.
  package func accept() throws(KeyringError) {
    guard trusted.isReplacing else { return }
    let isWritten = try PinStore(base: host.stateBase, keyring: policy.keyring).write(
      policy: policy, bytes: policy.encode(), keys: trusted.keys, signer: trusted.signer,
      replacing: trusted.pin)
    guard isWritten else { throw .team(.overtaken) }
  }

  /// A policy that the accepted one names by its digest, with key files that it names or that were accepted since.
  private static func link(
    _ step: PolicyStep, like mine: TrustedPolicy
  ) throws(KeyringError) -> PolicyChain.Link {
    let policy: Policy
    do throws(PolicyError) {
      policy = try Policy.parse(step.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    var keys: [Fingerprint: [UInt8]] = [:]
    for (person, facts) in policy.people where facts.removed == nil {
      let candidates = [step.keys[person], mine.keys[person]].compactMap { $0 }
      let file = candidates.first { facts.key == ContentDigest(of: $0) }
      guard let file = file ?? (facts.key == nil ? mine.keys[person] : nil) else {
        throw .policyNotTrusted(.keyMissing(person))
      }
      keys[person] = file
    }
    return PolicyChain.Link(policy: policy, digest: step.digest, keys: keys)
  }
}

extension Policy {
  /// Whether an edit would change nothing.
  fileprivate func has(_ edit: PolicyEdit) -> Bool {
    // What would make it no policy is told when it is made.
    guard let next = try? successor(by: [edit], previous: ContentDigest(of: []), at: .latest) else {
      return false
    }
    return next.people == people && next.groups == groups && next.accepted == accepted && next.files == files
  }
}
