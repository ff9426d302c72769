package import Keyring
package import KeyringModel

extension Synchronization {
  /// Returns the policy of the last commit that was fetched from the remote.
  ///
  /// - Parameter repository: The repository of the store.
  /// - Returns: The policy with its signature and key files; nil if nothing was fetched, or if it cannot be read.
  /// - Throws: The errors of `Git.run`.
  package static func fetchedPolicy(in repository: Repository) throws -> PolicyStep? {
    try fetchedCommit(in: repository).flatMap { try PolicyHistoryReader(in: repository).step(at: $0) }
  }

  /// Returns the policies in the history, with those of the last commit that was fetched from the remote as the branch
  /// whose newest policy is searched.
  ///
  /// - Parameter repository: The repository of the store.
  /// - Throws: The errors of `Git.run`.
  package static func fetchedPolicies(in repository: Repository) throws -> HistoricalPolicies {
    try PolicyHistoryReader(in: repository).steps(branch: try fetchedCommit(in: repository))
  }

  /// Returns the digests of the policies that are dropped if this clone keeps its own one.
  ///
  /// - Parameters:
  ///   - step: The policy of the remote's commit.
  ///   - newest: The newest policies of the remote.
  package static func policies(droppedWith step: PolicyStep, _ newest: [Policy]) -> Set<ContentDigest> {
    Set(newest.map { ContentDigest(of: $0.encode()) }).union([step.digest])
  }

  private static func fetchedCommit(in repository: Repository) throws -> String? {
    try Remote.find(in: repository).flatMap { try repository.git.commit($0.fetched) }
  }

  /// Finds the local changes of people and groups to apply on top of the newest policy of the remote.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - step: The policy of the remote's commit.
  ///   - past: The policies in the history, with those of the commit as the branch.
  /// - Throws: `cannotReapply` if that policy is not trusted; the errors of `Keyring.rebase(onto:past:)`, and of git.
  package static func rebase(
    _ keyring: Keyring, onto step: PolicyStep, past: HistoricalPolicies
  ) throws -> PolicyRebase {
    let merge = Result { () throws(KeyringError) in try keyring.rebase(onto: step, past: past) }
    if let problem = past.problem { throw problem }
    do {
      return try merge.get()
    } catch .policyNotTrusted(let reason) {
      throw SyncError.cannotReapply(reason)
    }
  }
}
