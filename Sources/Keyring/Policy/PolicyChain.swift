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
  package struct Followed: Sendable, Equatable {
    /// The policy.
    package let link: Link
    /// Its bytes and the signature that was verified.
    package let step: PolicyStep
    /// The admin who has made the signature.
    package let signer: Fingerprint
  }

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
      let before = way.last?.link ?? start
      do throws(KeyringError) {
        way.append(try signedStep(step, after: before))
      } catch {
        guard case .policyNotTrusted = error,
          let another = try followAny(step.digest, after: before, in: past)
        else { throw error }
        way.append(another)
      }
    }
    if let left, try !agrees(left, with: way, after: start, since: start, in: past) {
      throw .policyNotTrusted(.badSignature)
    }
    return way.last?.link ?? start
  }

  /// Follows a step with the first signature and key files in the history that are valid; nil if there are none.
  private func followAny(
    _ digest: ContentDigest, after link: Link, in past: HistoricalPolicies,
    if isRight: (Followed) throws(KeyringError) -> Bool = { _ in true }
  ) throws(KeyringError) -> Followed? {
    for step in past.versions(of: digest) {
      do throws(KeyringError) {
        let followed = try signedStep(step, after: link)
        if try isRight(followed) { return followed }
      } catch {
        guard case .policyNotTrusted = error else { throw error }
      }
    }
    return nil
  }

  // MARK: Sides

  /// Returns true if a policy that a merge has left out does not speak against the steps of the other side: it has not taken
  /// the right to sign from the signer of any of them, and not revoked the key.
  ///
  /// If a key was replaced on both sides, the owner has signed the last steps with the new key. So these agree with the
  /// steps before them that the old key has signed, although a person who should not have it could sign others.
  ///
  /// - Parameters:
  ///   - left: The policy.
  ///   - kept: The steps.
  ///   - link: The policy before the first step.
  ///   - common: The last policy that both sides have in common. Its admins can lose the right to sign, and other people
  ///     have it from them. Nil if it is not known, so that every signer must be an admin of the policy that is left out.
  ///   - past: The policies in the history. Each valid signature of a step counts, because anyone can add another one.
  /// - Throws: `KeyringError.engine`.
  func agrees(
    _ left: Link, with kept: some BidirectionalCollection<Followed>, after link: Link, since common: Link?,
    in past: HistoricalPolicies
  ) throws(KeyringError) -> Bool {
    let before = [link] + kept.dropLast().map(\.link)
    var later: [(step: Followed, before: Link)] = []
    for (step, before) in zip(kept.reversed(), before.reversed()) {
      func isRight(_ step: Followed) throws(KeyringError) -> Bool {
        let newest = left.policy.newestKey(of: step.signer)
        for (signed, before) in later where newest != step.signer && signed.signer == newest {
          if try accepts(left, signed, after: before) { return true }
        }
        if let common, !common.policy.admins.contains(step.signer) { return true }
        return try accepts(left, step, after: before)
      }
      var step = step
      if try !isRight(step) {
        guard let other = try followAny(step.link.digest, after: before, in: past, if: isRight) else {
          return false
        }
        step = other
      }
      later.append((step, before))
    }
    return true
  }

  /// Returns true if the signer of a step is an admin of another policy, and their key there is not revoked.
  private func accepts(_ other: Link, _ step: Followed, after before: Link) throws(KeyringError) -> Bool {
    let signer = step.signer
    guard other.policy.admins.contains(signer), let key = other.keys[signer] else { return false }
    if key == before.keys[signer] || key == step.link.keys[signer] { return true }
    guard let signature = step.step.signature else { return false }
    do throws(KeyringError) {
      _ = try verify(step.step, step.link.policy, signature: signature, with: [signer: key], of: [signer])
      return true
    } catch {
      guard case .policyNotTrusted = error else { throw error }
      return false
    }
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
  func signedStep(_ step: PolicyStep, after link: Link) throws(KeyringError) -> Followed {
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
    return Followed(
      link: Link(policy: policy, digest: step.digest, keys: keys), step: step, signer: signer)
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
        counts = try agrees(left, with: line, after: link, in: past)
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
    _ left: [Followed], with kept: [Followed], after link: Link, in past: HistoricalPolicies
  ) throws(KeyringError) -> Bool {
    guard let judge = left.last?.link else { return true }
    let count = zip(left, kept).prefix { $0.link.digest == $1.link.digest }.count
    let common = count == 0 ? link : kept[count - 1].link
    return try agrees(judge, with: kept[count...], after: common, since: common, in: past)
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
