package import Keyring
package import KeyringModel

/// The reasons why a change could not be committed or a store could not be synchronized.
package enum SyncError: Error, Equatable, Sendable {
  /// A commit contains a path that is not allowed, or an entry that cannot be part of a store: a link, a submodule, or
  /// a file in a place that Keytree reserves.
  case unsafePath(String)
  /// Files of the remote are far larger than their compressed size in the repository.
  case tooLarge(size: Int, limit: Int)
  /// A commit that was fetched is too large: its name, and its size and the limit in bytes.
  case commitTooLarge(commit: String, size: Int, limit: Int)
  /// A folder of a commit, outside the store or in a new clone, names far more files than its size in the repository
  /// allows; the path of the folder relative to the top, empty if it is not known.
  case tooManyFiles(commit: String, folder: String)
  /// The local commits contain files that are not allowed in a store.
  case notAllowed([RefusedChange])
  /// Files that are not items, such as a policy or a README, were changed on both sides.
  case bothChanged([String])
  /// People or groups were changed on both sides.
  case policiesDiverged
  /// The policy of the remote does not follow the accepted one; the reason, and the last commit that has changed it.
  case untrustedPolicy(PolicyDistrust, commit: String)
  /// The local changes of people or groups cannot be reapplied, because the policy of the remote is not trusted.
  case cannotReapply(PolicyDistrust)
  /// Files differ from the last commit, and a merge would replace them.
  case uncommitted([String])
  /// The cloned repository has no store at its top.
  case noStoreInClone(url: String)
  /// The repository to clone has no branch.
  case emptyRepository(url: String)
  /// The repository to clone does not have the wanted branch; the names of its branches.
  case noBranch(url: String, name: String, among: [String])
  /// The repository to clone has several branches with a store, and its default branch is none of them or does not
  /// exist; their names.
  case severalBranches(url: String, [String], hasDefault: Bool)
  /// No remote is configured for the branch, or there are several and none is named `origin`; their names.
  case noRemote(branch: String, among: [String])
  /// The branch has no commit yet.
  case noCommit
  /// The history of the remote branch was rewritten and lacks earlier commits; the last commit that was seen, and the
  /// current one, or nil if the branch was deleted.
  case rewritten(seen: String, now: String?)
  /// The policy of the remote does not belong to this keyring.
  case foreignPolicy
  /// The policies, signatures and key files of the history exceed the size limit.
  case policyHistoryTooLarge(limit: Int)
  /// The repository contains another store; the path of its folder in the repository, empty for the top.
  case anotherStore(folder: String)
  /// Other users pushed first at every attempt.
  case tooBusy(attempts: Int)
  /// The merged lines do not fit into an index file.
  case indexRefused(file: String, ShardError)

  /// True if nothing was merged because of the policies of both sides, of which the user may choose one.
  package var isAboutPolicies: Bool {
    switch self {
    case .policiesDiverged, .untrustedPolicy: true
    default: false
    }
  }
}
