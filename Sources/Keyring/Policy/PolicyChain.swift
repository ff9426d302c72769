package import KeyringModel
internal import OpenPGP

/// A policy as a commit had it, with what is needed to judge it.
package struct PolicyStep: Sendable, Equatable {
  /// The exact bytes of the policy.
  package let bytes: [UInt8]
  /// Its detached signature; nil where there was none.
  package let signature: [UInt8]?
  /// The key files beside it.
  package let keys: [Fingerprint: [UInt8]]

  /// Brings all parts together.
  package init(bytes: [UInt8], signature: [UInt8]?, keys: [Fingerprint: [UInt8]]) {
    (self.bytes, self.signature, self.keys) = (bytes, signature, keys)
  }

  /// The digest by which the next policy names this one.
  package var digest: ContentDigest { ContentDigest(of: bytes) }
}

/// Policies that follow one another, each signed by an admin of the one before (DESIGN section 8; threats T1 and T2).
package struct PolicyChain {
  /// A policy that is believed, with the key files of its people.
  package struct Link: Sendable, Equatable {
    package let policy: Policy
    package let digest: ContentDigest
    package let keys: [Fingerprint: [UInt8]]

    package init(policy: Policy, digest: ContentDigest, keys: [Fingerprint: [UInt8]]) {
      (self.policy, self.digest, self.keys) = (policy, digest, keys)
    }
  }

  /// Makes an engine that knows some keys.
  private let engine: (KeyFiles) -> any SealingEngine

  /// A chain whose signatures are verified with engines like this one.
  init(engine: any SealingEngine) { self.engine = { engine.with(keys: $0) } }

  /// A chain whose signatures are verified with engines of the caller's.
  init(engines: @escaping (KeyFiles) -> any SealingEngine) { engine = engines }

  /// Follows steps from a policy that is believed.
  ///
  /// - Parameters:
  ///   - steps: The policies that follow it, in order.
  ///   - start: Where they start.
  ///   - judge: A policy among whose admins the one who has signed a step has to be as well, and by the key that is
  ///     believed there; nil for none.
  /// - Returns: The last one.
  /// - Throws: `KeyringError.policyNotTrusted` with what is wrong about the first step that cannot be believed, or
  ///   `.engine`.
  func follow(
    _ steps: [PolicyStep], from start: Link, signedAlsoBy judge: Link? = nil
  ) throws(KeyringError) -> Link {
    var current = start
    for step in steps {
      if let judge, let signature = step.signature {
        let admins = judge.policy.admins.filter(current.policy.admins.contains)
        try PolicyVerification(engine: engine(judge.keys)).verify(
          step.bytes, signature: signature, admins: admins)
      }
      current = try self.step(step, after: current)
    }
    return current
  }

  /// Takes one step.
  ///
  /// - Throws: as `follow(_:from:)`.
  func step(_ step: PolicyStep, after link: Link) throws(KeyringError) -> Link {
    let policy: Policy
    do throws(PolicyError) {
      policy = try Policy.parse(step.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    guard policy.keyring == link.policy.keyring, policy.generation == link.policy.generation + 1,
      policy.previous == link.digest
    else { throw .policyNotTrusted(.notSuccessor(generation: policy.generation)) }
    guard let signature = step.signature else { throw .policyNotTrusted(.unsigned) }
    // With the keys as they were believed before: what came with the step says nothing about who may sign it.
    let verification = PolicyVerification(engine: engine(link.keys))
    try verification.verify(step.bytes, signature: signature, admins: link.policy.admins)
    return Link(policy: policy, digest: step.digest, keys: try keys(of: policy, in: step, after: link))
  }

  /// The key files of everybody in a policy: those whose digests it has, and where it has none, those from before.
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

/// The policies that a history has, by their digests.
package struct PastPolicySteps: Sendable {
  private let steps: [ContentDigest: PolicyStep]

  /// - Parameter steps: In any order; of two with the same policy the first counts.
  package init(_ steps: [PolicyStep]) {
    self.steps = Dictionary(steps.map { ($0.digest, $0) }) { first, _ in first }
  }

  /// The policy with a digest.
  package subscript(digest: ContentDigest) -> PolicyStep? { steps[digest] }

  /// The steps that lead to one, it included.
  ///
  /// - Parameters:
  ///   - step: The last one.
  ///   - isStart: Whether a digest is that of a policy to start from.
  /// - Returns: Where they start, and the steps in order; nil when a policy between is not known.
  package func path(
    to step: PolicyStep, from isStart: (ContentDigest) -> Bool
  ) -> (start: ContentDigest, steps: [PolicyStep])? {
    var path = [step]
    // Why one cannot be read does not matter: nothing leads through it.
    while let first = path.first, let previous = (try? Policy.parse(first.bytes))?.previous {
      if isStart(previous) { return (previous, path) }
      guard let before = steps[previous], path.count <= steps.count else { return nil }
      path.insert(before, at: 0)
    }
    return nil
  }
}
