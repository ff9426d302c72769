package import KeyringModel
internal import OpenPGP

/// Changes to people and groups that were made on this machine, to be applied on top of changes that were made
/// elsewhere concurrently.
package struct PolicyRebase: Sendable {
  /// The policy that this machine has accepted.
  package let accepted: Policy
  /// The last policy that both sides have in common; the accepted one if nothing is reapplied.
  package let base: Policy
  /// The remote's policy: the newest one on its branch.
  package let step: PolicyStep
  /// The keyring with the remote's policy, which is verified but not accepted yet.
  package let keyring: Keyring
  /// The keyring that verifies the items of the remote: only the remote's policy counts there.
  package let judge: Keyring
  /// The edits of this machine that the remote's policy lacks.
  package let edits: [PolicyEdit]
  /// The edits that cannot be applied, because the remote's policy has removed this user.
  package let dropped: [PolicyEdit]
  /// The edits of this machine, adapted to the remote's policy.
  package let concurrent: ConcurrentEdits

  /// The people to whom the dropped edits gave access. Items of this clone are encrypted to them, also in commits that
  /// are not sent yet.
  package var droppedReaders: [Fingerprint] {
    let people = dropped.compactMap { edit in
      switch edit {
      case .add, .key, .encrypt, .join: edit.person
      default: nil
      }
    }
    let own = [keyring.trusted.signer, keyring.policy.newestKey(of: keyring.trusted.signer)]
    return Set(people).subtracting(own).sorted()
  }
  /// The key files that the edits need.
  package let keys: [Fingerprint: [UInt8]]
}

extension Keyring {
  /// Finds the edits to apply on top of the store's policy, if that differs from the accepted policy and both have a
  /// common ancestor. The new policy is accepted only by ``make(_:subject:progress:)`` with the edits, or by
  /// ``accept()`` if there are none. Until then only the accepted policy contains the edits.
  ///
  /// The policy in the store is verified if it follows an ancestor of the accepted policy by its digests. Each step
  /// must be signed by an admin of the policy before it from whom the accepted policy has not taken that right.
  ///
  /// - Parameters:
  ///   - path: The store's folder, with the remote's policy in it.
  ///   - host: The properties of this machine.
  ///   - past: The policies in the history, with those of the remote as the branch.
  /// - Returns: The edits; none if the policy in the store already has them, or if this user may not make them.
  /// - Throws: `KeyringError.team` with `noCommonPolicy`; `.policyNotTrusted` when the policy in the store cannot be
  ///   verified, or is an older one that was restored; `.engine`, or a file error.
  package static func reapply(
    at path: String, host: HostContext, past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyRebase {
    let tree = try StoreFolder.open(path)
    let mine = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    let step = try PolicyAcceptance.step(in: tree)
    let merge = try rebase(mine, onto: step, in: tree, host: host, past: past)
    if merge.step.digest != step.digest {
      throw .policyNotTrusted(
        .restored(
          generation: (try? Policy.parse(step.bytes))?.generation ?? 0,
          newer: merge.judge.policy.generation))
    }
    return merge
  }

  /// Finds the edits to apply on top of the newest policy of a remote, which is not in the store yet, like
  /// ``reapply(at:host:past:)``.
  ///
  /// A push may have restored an older policy. Then the last one that follows it on the branch of the remote counts.
  ///
  /// - Parameters:
  ///   - step: The policy of the remote's commit.
  ///   - past: The policies in the history, with those of the remote as the branch.
  /// - Returns: The edits, and the policy.
  /// - Throws: The errors of ``reapply(at:host:past:)``; `.policyNotTrusted` with `contradictory`.
  package func rebase(
    onto step: PolicyStep, past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyRebase {
    let mine = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    return try Self.rebase(mine, onto: step, in: tree, host: host, past: past)
  }

  /// Returns the last policy on a branch that is the accepted one or precedes it; nil if the branch has none.
  private static func newestKnown(
    to mine: TrustedPolicy, in past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyChain.Link? {
    let own = mine.link.digest
    if past.isOnBranch(own) { return mine.link }
    let digest = past.ancestors(of: mine.policy).first(where: past.isOnBranch)
    return try digest.flatMap { past[$0] }.map { step throws(KeyringError) in
      try link(step, like: mine, in: past)
    }
  }

  /// Returns the newest policies on the branch of a remote that follow from a policy which both sides have in common, and
  /// that are signed by admins, also by a person whom this machine has removed since.
  ///
  /// - Parameters:
  ///   - step: The policy of the remote's commit.
  ///   - past: The policies in the history, with those of the remote as the branch.
  /// - Returns: The policies; several if two follow the same one. None if the newest policy of the remote is the accepted
  ///   one or precedes it, or if no common policy was found.
  /// - Throws: `KeyringError.engine`, or a file error.
  package func newestSigned(
    upTo step: PolicyStep, past: HistoricalPolicies
  ) throws(KeyringError) -> [Policy] {
    let mine = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    let chain = PolicyChain(engine: host.engine(for: mine.policy.keyring, keys: mine.keys))
    var newest: [PolicyChain.Link] = []
    do throws(KeyringError) {
      if let known = try Self.newestKnown(to: mine, in: past) {
        newest += try chain.lines(after: known, in: past).compactMap { $0.last?.link }
      }
    } catch {
      // A key file of the common policy is missing.
      guard case .policyNotTrusted = error else { throw error }
    }
    if let last = try Self.lastSigned(mine, upTo: step, chain, past: past) {
      let following = try chain.lines(after: last, in: past).compactMap { $0.last?.link }
      newest += following.isEmpty ? [last] : following
    }
    let policies = Dictionary(newest.map { ($0.digest, $0.policy) }, uniquingKeysWith: { first, _ in first })
    return policies.sorted { left, right in
      left.value.generation == right.value.generation
        ? left.key.base64url < right.key.base64url : left.value.generation < right.value.generation
    }.map(\.value)
  }

  /// Returns the last policy on the way to that of a remote which is signed by admins; nil if none is.
  private static func lastSigned(
    _ mine: TrustedPolicy, upTo step: PolicyStep, _ chain: PolicyChain, past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyChain.Link? {
    let way: (base: PolicyChain.Link, steps: [PolicyStep])
    do throws(KeyringError) {
      way = try Self.way(from: mine, to: step, in: past)
    } catch {
      switch error {
      case .team(.noCommonPolicy), .policyNotTrusted: return nil
      default: throw error
      }
    }
    var last = way.base
    for step in way.steps {
      do throws(KeyringError) {
        last = try chain.follow([step], from: last, in: past)
      } catch {
        guard case .policyNotTrusted = error else { throw error }
        break
      }
    }
    return last.digest == way.base.digest ? nil : last
  }

  /// Returns the steps from a policy that both sides have in common to the policy of the other side.
  private static func way(
    from mine: TrustedPolicy, to last: PolicyStep, in past: HistoricalPolicies
  ) throws(KeyringError) -> (base: PolicyChain.Link, steps: [PolicyStep]) {
    let own = ContentDigest(of: mine.policy.encode())
    let ancestors = Dictionary(
      mine.policy.ancestors(in: past).map { ($0.digest, $0) }, uniquingKeysWith: { first, _ in first })
    if let old = ancestors[last.digest] {
      // The store has an ancestor of the accepted policy: an old version was restored.
      let generation = (try? Policy.parse(old.bytes))?.generation ?? 0
      throw .policyNotTrusted(.changed(generation: generation, pinned: mine.policy.generation))
    }
    guard let way = past.path(to: last, from: { $0 == own || ancestors[$0] != nil }) else {
      throw .team(.noCommonPolicy)
    }
    if let step = ancestors[way.start] { return (try link(step, like: mine, in: past), way.steps) }
    return (mine.link, way.steps)
  }

  private static func rebase(
    _ mine: TrustedPolicy, onto last: PolicyStep, in tree: FileTree, host: HostContext,
    past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyRebase {
    let engine = host.engine(for: mine.policy.keyring, keys: mine.keys)
    let chain = PolicyChain(engine: engine)
    let generation = (try? Policy.parse(last.bytes))?.generation ?? 0
    let known = try newestKnown(to: mine, in: past)
    let isKnown = known.map { $0.digest == last.digest || generation < $0.policy.generation } ?? false
    if isKnown, let known, let newest = try chain.newest(after: known, in: past)?.step {
      return try rebase(mine, onto: newest, in: tree, host: host, past: past)
    }
    if last.digest == mine.link.digest {
      // The folder may have another policy, which is not accepted here.
      let same = Keyring(
        tree: tree, trusted: TrustedPolicy(policy: mine.policy, signer: mine.signer, keys: mine.keys),
        engine: engine, host: host)
      return PolicyRebase(
        accepted: mine.policy, base: mine.policy, step: last, keyring: same, judge: same, edits: [],
        dropped: [],
        concurrent: ConcurrentEdits(of: mine.policy, to: mine.policy, since: mine.policy), keys: [:])
    }
    if isKnown { throw .policyNotTrusted(.changed(generation: generation, pinned: mine.policy.generation)) }
    let (base, steps) = try way(from: mine, to: last, in: past)
    // A person who was removed here must not return through a policy that branches off before the removal.
    let theirs: PolicyChain.Link
    do throws(KeyringError) {
      theirs = try chain.follow(steps, from: base, leavingOut: mine.link, in: past)
    } catch {
      guard case .policyNotTrusted(.badSignature) = error,
        let interim = try interim(of: mine, steps, after: base, chain, in: past)
      else { throw error }
      theirs = interim
    }
    if past.isOnBranch(last.digest), let newest = try chain.newest(after: base, in: past),
      newest.link.digest != last.digest
    {
      return try rebase(mine, onto: newest.step, in: tree, host: host, past: past)
    }
    let concurrent = ConcurrentEdits(of: mine.policy, to: theirs.policy, since: base.policy)
    let edits = concurrent.edits
    var keys: [Fingerprint: [UInt8]] = [:]
    for edit in edits {
      switch edit {
      case .add(let person, _, _, _, _), .key(let person, _): keys[person] = mine.keys[person]
      default: break
      }
    }
    let signer = try signer(mine, in: theirs.policy, engine)
    let trusted = TrustedPolicy(
      policy: theirs.policy, signer: signer, keys: theirs.keys, replacing: (mine.policy, mine.pin))
    // Items of this machine may be signed by people whom the remote has removed.
    let keyring = Keyring(
      tree: tree, trusted: trusted, engine: engine.with(keys: mine.keys.merging(theirs.keys) { $1 }),
      host: host)
    let judge = Keyring(
      tree: tree, trusted: TrustedPolicy(policy: theirs.policy, signer: signer, keys: theirs.keys),
      engine: engine.with(keys: theirs.keys), host: host)
    let missing = edits.filter { !keyring.policy.has($0) }
    // Otherwise the clone of a removed admin could never accept another policy, because `trust` needs a member.
    // A member who is no longer an admin gets an error instead: the clone of a member is sent, with items that are
    // encrypted to the readers of these edits, and nobody has accepted those.
    let isRemoved = !theirs.policy.isMember(signer)
    let isReapplied = !isRemoved && !missing.isEmpty
    return PolicyRebase(
      accepted: mine.policy, base: isReapplied ? base.policy : mine.policy, step: last, keyring: keyring,
      judge: judge, edits: isRemoved ? [] : missing, dropped: isRemoved ? missing : [],
      concurrent: concurrent, keys: keys)
  }

  /// Returns the first of two policies with which this user has reapplied the replacement of their key, if the second one is
  /// missing, because the command was interrupted: the old key has signed nothing but edits of this machine.
  private static func interim(
    of mine: TrustedPolicy, _ steps: [PolicyStep], after base: PolicyChain.Link, _ chain: PolicyChain,
    in past: HistoricalPolicies
  ) throws(KeyringError) -> PolicyChain.Link? {
    guard let last = steps.last else { return nil }
    let before = try chain.follow(Array(steps.dropLast()), from: base, leavingOut: mine.link, in: past)
    let interim = try chain.signedStep(last, after: before)
    let newest = mine.policy.newestKey(of: interim.signer)
    guard newest != interim.signer, newest == mine.signer else { return nil }
    let edits = ConcurrentEdits(of: mine.policy, to: before.policy, since: base.policy).edits
    guard interim.link.policy.edits(since: before.policy).allSatisfy(edits.contains) else { return nil }
    return interim.link
  }

  /// Returns the person as whom this user acts under the policy of a remote. If that does not have their new key, it is the
  /// member whose key this machine has replaced.
  private static func signer(
    _ mine: TrustedPolicy, in theirs: Policy, _ engine: any OpenPGPEngine
  ) throws(KeyringError) -> Fingerprint {
    let signer = try engine.preferred(mine.signer, in: theirs)
    if theirs.isMember(signer) { return signer }
    let replaced = mine.policy.people.keys.filter {
      mine.policy.newestKey(of: $0) == signer && theirs.isMember($0)
    }
    let own: [Fingerprint]
    do throws(EngineError) {
      own = try engine.ownPeople()
    } catch {
      throw .engine(error, nil)
    }
    return replaced.filter(own.contains).min() ?? replaced.min() ?? signer
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

  /// Returns the policies before the accepted one, the latest first.
  ///
  /// - Parameter past: The policies in the history.
  package func ancestors(in past: HistoricalPolicies) -> [PolicyStep] { policy.ancestors(in: past) }

  /// Returns a keyring with an ancestor of the accepted policy, to verify records that were signed while that was in
  /// force.
  ///
  /// - Parameters:
  ///   - step: The earlier policy.
  ///   - past: The policies in the history.
  ///   - isCurrent: True to let later changes of the keys count, such as revocations.
  /// - Returns: The keyring; nil if the policy is not an ancestor of the accepted one, or is the accepted one.
  /// - Throws: `KeyringError.policyNotTrusted` if a key file of the earlier policy is missing.
  package func judge(
    ofAncestor step: PolicyStep, past: HistoricalPolicies, withCurrentKeys isCurrent: Bool = false
  ) throws(KeyringError) -> Keyring? {
    guard ancestors(in: past).contains(where: { $0.digest == step.digest }) else { return nil }
    let link = try Self.link(step, like: trusted, in: past)
    let keys = isCurrent ? currentKeys(of: link, past: past) : link.keys
    return Keyring(
      tree: tree, trusted: TrustedPolicy(policy: link.policy, signer: trusted.signer, keys: keys),
      engine: engine.with(keys: keys), host: host)
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
  /// Returns the policies before this one by their digests, the latest first.
  ///
  /// - Parameter past: The policies in the history.
  fileprivate func ancestors(in past: HistoricalPolicies) -> [PolicyStep] {
    var found: [PolicyStep] = []
    var seen: Set<ContentDigest> = []
    var next = previous
    while let digest = next, seen.insert(digest).inserted, let step = past[digest] {
      found.append(step)
      // The ancestors of a policy that cannot be read are not known.
      next = (try? Policy.parse(step.bytes))?.previous
    }
    return found
  }

  /// Returns true if an edit would change nothing.
  fileprivate func has(_ edit: PolicyEdit) -> Bool {
    // An invalid edit is reported when it is applied.
    guard let next = try? successor(by: [edit], previous: ContentDigest(of: []), at: .latest) else {
      return false
    }
    return next.people == people && next.groups == groups && next.accepted == accepted && next.files == files
  }
}
