package import KeyringModel
internal import OpenPGP

/// The policy in one commit, with the data to verify it.
package struct PolicyStep: Sendable, Equatable {
  /// The exact bytes of the policy.
  package let bytes: [UInt8]
  /// Its detached signature; nil if there is none.
  package let signature: [UInt8]?
  /// The key files beside it.
  package let keys: [Fingerprint: [UInt8]]

  /// Creates a step from its parts.
  package init(bytes: [UInt8], signature: [UInt8]?, keys: [Fingerprint: [UInt8]]) {
    (self.bytes, self.signature, self.keys) = (bytes, signature, keys)
  }

  /// The digest by which the next policy names this one.
  package var digest: ContentDigest { ContentDigest(of: bytes) }

  /// Returns the key files with the digests in a policy.
  ///
  /// - Parameter policy: The policy of this step.
  func keys(namedIn policy: Policy) -> KeyFiles {
    keys.filter { policy.people[$0.key]?.key == ContentDigest(of: $0.value) }
  }
}

extension KeyFiles {
  /// Returns these key files, each joined with another file of the same person. GnuPG merges the keys of both.
  ///
  /// - Parameter others: The other files. Those of other people are ignored.
  package func joined(with others: KeyFiles) -> KeyFiles {
    merging(others.filter { self[$0.key] != nil }) { own, other in
      // GnuPG finds the second armored key only at the start of a line.
      own == other ? own : own + [UInt8(ascii: "\n")] + other
    }
  }
}

/// A sequence of policies, each signed by an admin of the one before (DESIGN section 8; threats T1 and T2).
package struct PolicyChain {
  /// A verified policy, with the key files of its people.
  package struct Link: Sendable, Equatable {
    package let policy: Policy
    package let digest: ContentDigest
    package let keys: [Fingerprint: [UInt8]]

    package init(policy: Policy, digest: ContentDigest, keys: [Fingerprint: [UInt8]]) {
      (self.policy, self.digest, self.keys) = (policy, digest, keys)
    }

    /// Returns the key files of some people.
    func keys(of people: some Sequence<Fingerprint>) -> KeyFiles {
      let people = Set(people)
      return keys.filter { people.contains($0.key) }
    }
  }

  /// Returns an engine that uses the given key files.
  private let engine: (KeyFiles) -> any OpenPGPEngine

  /// Creates a chain that verifies signatures with copies of an engine that have other key files.
  init(engine: any OpenPGPEngine) { self.engine = { engine.with(keys: $0) } }

  /// Creates a chain that verifies signatures with engines that the caller creates.
  init(engines: @escaping (KeyFiles) -> any OpenPGPEngine) { engine = engines }

  /// A verified step.
  typealias Followed = (link: Link, step: PolicyStep, signer: Fingerprint)

  /// Follows steps from a verified policy.
  ///
  /// - Parameters:
  ///   - steps: The policies that follow it, in order.
  ///   - start: The verified policy.
  ///   - left: The policy of another side, which the steps leave out; nil for none. It must not have taken the right to sign
  ///     from the signer of a step, as in ``newest(after:in:)``.
  ///   - past: The policies in the history. If a step is not validly signed there with one signature or set of key
  ///     files, the others are tried.
  /// - Returns: The last policy.
  /// - Throws: `KeyringError.policyNotTrusted` with the fault of the first step that cannot be verified, or `.engine`.
  func follow(
    _ steps: [PolicyStep], from start: Link, leavingOut left: Link? = nil,
    in past: HistoricalPolicies = HistoricalPolicies([])
  ) throws(KeyringError) -> Link {
    var way: [Followed] = []
    for step in steps {
      way.append(try follow(step, after: way.last?.link ?? start, since: start, leavingOut: left, in: past))
    }
    if let left, try !agrees(left, with: way, after: start) { throw .policyNotTrusted(.badSignature) }
    return way.last?.link ?? start
  }

  /// Follows a step with one of its signatures and key files that is valid, if possible one with which another side agrees.
  private func follow(
    _ step: PolicyStep, after link: Link, since common: Link, leavingOut left: Link?,
    in past: HistoricalPolicies
  ) throws(KeyringError) -> Followed {
    var (valid, failure): (Followed?, KeyringError?)
    func followed(by version: PolicyStep) throws(KeyringError) -> Followed? {
      do throws(KeyringError) {
        let followed = try signedStep(version, after: link)
        valid = valid ?? followed
        return try left.map { left throws(KeyringError) in
          try agrees(left, with: followed, after: link, since: common)
        } ?? true ? followed : nil
      } catch {
        guard case .policyNotTrusted = error else { throw error }
        failure = failure ?? error
        return nil
      }
    }
    if let best = try followed(by: step) { return best }
    for version in past.versions(of: step.digest) {
      if let best = try followed(by: version) { return best }
    }
    guard let valid else { throw failure ?? .policyNotTrusted(.badSignature) }
    return valid
  }

  /// Returns true if a policy that a merge has left out does not speak against a step of the other side: it has not taken the
  /// right to sign from its signer, and not revoked the key.
  ///
  /// - Parameters:
  ///   - left: The policy.
  ///   - followed: The step.
  ///   - before: The policy before the step.
  ///   - common: The policy that both sides have in common.
  private func agrees(
    _ left: Link, with followed: Followed, after before: Link, since common: Link
  ) throws(KeyringError) -> Bool {
    let signer = followed.signer
    // A person who was made an admin later has the right from the signers before.
    guard common.policy.admins.contains(signer) else { return true }
    guard left.policy.admins.contains(signer), let key = left.keys[signer] else { return false }
    if key == before.keys[signer] || key == followed.link.keys[signer] { return true }
    guard let signature = followed.step.signature else { return false }
    do throws(KeyringError) {
      _ = try verify(
        followed.step, followed.link.policy, signature: signature, with: [signer: key], of: [signer])
      return true
    } catch {
      guard case .policyNotTrusted = error else { throw error }
      return false
    }
  }

  /// Follows a step with the first signature and key files in the history that are valid; nil if there are none.
  private func followAny(
    _ digest: ContentDigest, after link: Link, in past: HistoricalPolicies
  ) throws(KeyringError) -> Followed? {
    for step in past.versions(of: digest) {
      do throws(KeyringError) {
        return try signedStep(step, after: link)
      } catch {
        guard case .policyNotTrusted = error else { throw error }
      }
    }
    return nil
  }

  /// Checks that an admin has signed a step.
  ///
  /// The accepted primary keys of the admins certify each new subkey, so their new key files admit no other person. But an
  /// only admin whose signing subkey was lost, has expired or was revoked can import the next one, and a revocation in
  /// either file counts. So GnuPG gets these files of the step, too, and no others. Anyone who can push can replace them:
  /// a file because of which GnuPG does not get or read an accepted key is a fault of the step, and no error of GnuPG.
  ///
  /// - Returns: The admin.
  /// - Throws: `KeyringError.policyNotTrusted` with `badSignature`, `unusableKeyFile` or `foreignSubkey`; `.team` with
  ///   `unreadableKey` if GnuPG cannot read an accepted key, or if an admin has signed with their accepted key, and GnuPG
  ///   cannot read their new one; `.engine`.
  private func verify(
    _ step: PolicyStep, _ policy: Policy, signature: [UInt8], with accepted: KeyFiles,
    of admins: [Fingerprint]
  ) throws(KeyringError) -> Fingerprint {
    let joined = accepted.joined(with: step.keys(namedIn: policy))
    let usable = joined.filter { accepted[$0.key].flatMap(KeyPackets.excess) == nil }
    if let unusable = PolicyDistrust(ofUnusableFilesIn: usable) { throw .policyNotTrusted(unusable) }
    func verify(with keys: KeyFiles) throws(KeyringError) -> Fingerprint {
      try PolicyVerification(engine: engine(keys), people: policy)
        .verify(step.bytes, signature: signature, admins: admins)
    }
    do throws(KeyringError) {
      return try verify(with: joined)
    } catch {
      guard case .team(.unreadableKey(let person, _, let problem)) = error, joined != accepted else {
        throw error
      }
      do throws(KeyringError) {
        _ = try verify(with: accepted)
      } catch .policyNotTrusted(.badSignature) {
        throw .policyNotTrusted(.unusableKeyFile(person, problem))
      }
      throw error
    }
  }

  /// Follows one step.
  ///
  /// - Throws: The errors of `follow(_:from:leavingOut:in:)`.
  func step(_ step: PolicyStep, after link: Link) throws(KeyringError) -> Link {
    try signedStep(step, after: link).link
  }

  private func signedStep(_ step: PolicyStep, after link: Link) throws(KeyringError) -> Followed {
    let policy = try Self.policy(of: step)
    guard policy.keyring == link.policy.keyring, policy.generation == link.policy.generation + 1,
      policy.previous == link.digest
    else { throw .policyNotTrusted(.notSuccessor(generation: policy.generation)) }
    guard let signature = step.signature else { throw .policyNotTrusted(.unsigned) }
    // Only the admins from before the step may sign it.
    let admins = link.policy.admins
    let signer = try verify(
      step, policy, signature: signature, with: link.keys(of: admins), of: admins)
    let keys = try keys(of: policy, in: step, after: link)
    let changed = keys.filter { link.keys[$0.key] != $0.value }.keys
    // The people whom the step removes are included: what they have signed stays valid.
    if let reason = PolicyDistrust(of: Set(changed), inFiles: keys.merging(link.keys) { kept, _ in kept }) {
      throw .policyNotTrusted(reason)
    }
    return (Link(policy: policy, digest: step.digest, keys: keys), step, signer)
  }

  /// Returns the newest policy of a branch after one of them.
  ///
  /// A person who can push can commit an earlier policy once more. Its signature is valid, so only the history shows that it
  /// was replaced (threats T1 and T2). If two admins change the people concurrently, a merge keeps the policy of one side,
  /// and gives it the highest generation. A removed person can still sign policies that follow the one from before their
  /// removal. So a side that is signed by a person from whom another side has taken the right to sign does not count.
  ///
  /// - Parameters:
  ///   - link: The policy.
  ///   - past: The policies in the history, with those of the branch. The caller has to check
  ///     ``HistoricalPolicies/problem`` afterwards: a policy that could not be read does not follow.
  /// - Returns: The policy; nil if none follows, so that the given one is the newest of the branch.
  /// - Throws: `KeyringError.policyNotTrusted` with `contradictory` if no side counts, or if two sides that count have the
  ///   same highest generation; `.engine`.
  func newest(
    after link: Link, in past: HistoricalPolicies
  ) throws(KeyringError) -> Followed? {
    let lines = try lines(after: link, in: past)
    var counting: [Followed] = []
    for (index, line) in lines.enumerated() {
      var counts = true
      for (other, left) in lines.enumerated() where other != index && counts {
        counts = try agrees(left, with: line, after: link)
      }
      if counts, let last = line.last { counting.append(last) }
    }
    guard !lines.isEmpty else { return nil }
    counting.sort { $0.link.policy.generation > $1.link.policy.generation }
    if let newest = counting.first,
      counting.dropFirst().first?.link.policy.generation != newest.link.policy.generation
    {
      return newest
    }
    let generations = lines.compactMap { $0.last?.link.policy.generation }.sorted(by: >)
    throw .policyNotTrusted(
      .contradictory(generation: generations[0], other: generations.dropFirst().first ?? generations[0]))
  }

  /// Returns true if the last policy of a line that a merge has left out does not speak against the other line.
  private func agrees(
    _ left: [Followed], with kept: [Followed], after link: Link
  ) throws(KeyringError) -> Bool {
    guard let judge = left.last?.link else { return true }
    let count = zip(left, kept).prefix { $0.link.digest == $1.link.digest }.count
    return try agrees(judge, with: kept[count...], after: count == 0 ? link : kept[count - 1].link)
  }

  /// Returns true if a policy that a merge has left out does not speak against the steps of the other side.
  ///
  /// If a key was replaced on both sides, the owner has signed the last steps with the new key. So these agree with the
  /// steps before them that the old key has signed, although a person who should not have it could sign others.
  private func agrees(
    _ left: Link, with kept: some BidirectionalCollection<Followed>, after common: Link
  ) throws(KeyringError) -> Bool {
    let before = [common] + kept.dropLast().map(\.link)
    var later: Set<Fingerprint> = []
    for (followed, before) in zip(kept.reversed(), before.reversed()) {
      let newest = left.policy.newestKey(of: followed.signer)
      let isEndorsed =
        newest != followed.signer && left.policy.admins.contains(newest) && later.contains(newest)
        && left.keys[newest] == kept.last?.link.keys[newest]
      if !isEndorsed, try !agrees(left, with: followed, after: before, since: common) { return false }
      later.insert(followed.signer)
    }
    return true
  }

  /// Returns the lines of policies of a branch that follow one of them: the policies that were verified, from the first one
  /// to one that none follows.
  ///
  /// - Throws: `KeyringError.engine`.
  func lines(after link: Link, in past: HistoricalPolicies) throws(KeyringError) -> [[Followed]] {
    var complete: [[Followed]] = []
    var waiting: [[Followed]] = [[]]
    while let line = waiting.popLast() {
      let last = line.last?.link ?? link
      var isComplete = true
      for digest in past.successors(of: last.digest) {
        guard let next = try followAny(digest, after: last, in: past) else { continue }
        isComplete = false
        waiting.append(line + [next])
      }
      if isComplete, !line.isEmpty { complete.append(line) }
    }
    return complete
  }

  private static func policy(of step: PolicyStep) throws(KeyringError) -> Policy {
    do throws(PolicyError) {
      return try Policy.parse(step.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
  }

  /// Returns the key files of the people in a policy: the files with the digests in it, or the previous file if it has
  /// no digest for the person.
  private func keys(
    of policy: Policy, in step: PolicyStep, after link: Link
  ) throws(KeyringError) -> [Fingerprint: [UInt8]] {
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in policy.people where person.removed == nil {
      if let before = link.keys[fingerprint],
        person.key == nil || person.key == ContentDigest(of: before)
      {
        keys[fingerprint] = before
        continue
      }
      guard let file = step.keys[fingerprint] else { throw .policyNotTrusted(.keyMissing(fingerprint)) }
      guard person.key == ContentDigest(of: file) else {
        throw .policyNotTrusted(.keyExchanged(fingerprint, name: person.name))
      }
      keys[fingerprint] = file
    }
    return keys
  }
}
