internal import KeyringModel

/// The policies in a history, by their digests. The same policy can occur with several signatures and key files.
package struct HistoricalPolicies: Sendable {
  private let previous: [ContentDigest: ContentDigest?]
  private let next: [ContentDigest?: [ContentDigest]]
  private let branch: Set<ContentDigest>
  private let step: @Sendable (ContentDigest, _ version: Int) -> PolicyStep?
  private let failure: @Sendable () -> (any Error)?

  /// The error because of which a policy could not be read, so that it seems to be missing; nil if there was none.
  package var problem: (any Error)? { failure() }

  /// Creates the set. All policies are on the branch.
  ///
  /// - Parameter steps: The steps in any order, except that those with the same policy are tried in this order.
  package init(_ steps: [PolicyStep]) {
    let known = Dictionary(grouping: steps, by: \.digest)
    // A policy that cannot be read names no previous policy, so the reason does not matter.
    let previous = known.mapValues { versions in
      versions.first.flatMap { (try? Policy.parse($0.bytes))?.previous }
    }
    self.init(previous: previous, branch: Set(known.keys)) { digest, version in
      known[digest].flatMap { $0.indices.contains(version) ? $0[version] : nil }
    }
  }

  /// Creates the set of a history that cannot be read.
  ///
  /// - Parameter problem: The reason.
  package init(unreadable problem: any Error) {
    self.init(previous: [:], branch: [], failure: { problem }) { _, _ in nil }
  }

  /// Creates a set whose steps are read when they are needed. A history can have more policies than fit in memory.
  ///
  /// - Parameters:
  ///   - previous: The policies, each with the predecessor that it names.
  ///   - branch: The policies on the branch whose newest policy is searched.
  ///   - failure: Returns the first error of `step`.
  ///   - step: Returns the policy with a digest, and its signature and key files with an index that starts at 0; nil if
  ///     there is none, or if it cannot be read.
  package init(
    previous: [ContentDigest: ContentDigest?], branch: Set<ContentDigest>,
    failure: @escaping @Sendable () -> (any Error)? = { nil },
    step: @escaping @Sendable (ContentDigest, _ version: Int) -> PolicyStep?
  ) {
    next = Dictionary(grouping: branch) { previous[$0] ?? nil }
    (self.previous, self.branch, self.failure, self.step) = (previous, branch, failure, step)
  }

  /// Returns the digests of the policies before another one, the latest first. None of them is read.
  func ancestors(of policy: Policy) -> some Sequence<ContentDigest> {
    sequence(state: (next: policy.previous, count: 0)) { [previous] state in
      // A chain of digests has no circle, but the limit does not depend on that.
      guard let digest = state.next, state.count <= previous.count else { return nil }
      state = (previous[digest] ?? nil, state.count + 1)
      return digest
    }
  }

  /// Returns the set with a branch that has a policy: the same one, or all policies of the history. The policy may be in the
  /// folder of the store only, because a merge by plain git is not complete.
  func withBranch(of digest: ContentDigest) -> HistoricalPolicies {
    if isOnBranch(digest) { return self }
    return HistoricalPolicies(
      previous: previous, branch: Set(previous.keys), failure: failure, step: step)
  }

  /// The most bytes of the policies between two policies.
  private static let pathLimit = 256 << 20

  /// The policy with a digest, and the first of its signatures.
  package subscript(digest: ContentDigest) -> PolicyStep? { step(digest, 0) }

  /// Returns the digests of the policies on the branch that name a policy as their predecessor. They were not verified.
  func successors(of digest: ContentDigest) -> [ContentDigest] { next[digest] ?? [] }

  /// Returns true if a policy is on the branch whose newest policy is searched.
  func isOnBranch(_ digest: ContentDigest) -> Bool { branch.contains(digest) }

  /// Returns a policy with each of its signatures and sets of key files. Each is read when it is needed.
  package func versions(of digest: ContentDigest) -> some Sequence<PolicyStep> {
    sequence(state: 0) { version in
      defer { version += 1 }
      return step(digest, version)
    }
  }

  /// Returns the steps that lead to a policy, including that policy.
  ///
  /// - Parameters:
  ///   - step: The last step.
  ///   - isStart: Returns true for the digest of a policy to start from.
  /// - Returns: The start and the steps in order; nil if a policy between them is not known, or if all together are
  ///   larger than 256 MiB.
  package func path(
    to step: PolicyStep, from isStart: (ContentDigest) -> Bool
  ) -> (start: ContentDigest, steps: [PolicyStep])? {
    var path = [step]
    var size = step.bytes.count
    // A policy that cannot be read names no previous policy, so the reason does not matter.
    while let first = path.last, let previous = (try? Policy.parse(first.bytes))?.previous {
      if isStart(previous) { return (previous, path.reversed()) }
      guard path.count <= self.previous.count, let before = self[previous] else { return nil }
      path.append(before)
      size += before.bytes.count
      guard size <= Self.pathLimit else { return nil }
    }
    return nil
  }
}
