package import Keyring
package import KeyringModel
package import Subprocess

/// The reasons why git failed.
package enum GitError: Error, Equatable, Sendable {
  /// No program of this name is in the search path.
  case notInstalled
  /// The version is not supported; the version that git reports.
  case tooOld(version: String)
  /// Git could not be started, or its output exceeded the limit.
  case process(ProcessError)
  /// Git exited with a nonzero status. The message is the reason that git, ssh or the remote has reported, on one line
  /// of limited length. It may contain any characters.
  case failed(command: String, status: Int32, message: String)
  /// A signal ended git.
  case killed(command: String, signal: Int32)
  /// Git exceeded the time limit and was ended.
  case timedOut(command: String)
  /// Git needed more memory than the limit, which is in bytes.
  case tooMuchMemory(command: String, limit: Int)
  /// The output of git does not have the documented format.
  case unexpectedOutput(command: String)
  /// Git refuses the repository because it belongs to another user.
  case unsafeOwner(path: String)
  /// The repository's own configuration has settings that are not accepted, because they may run programs; the names of
  /// the settings, or of a file that contains such settings.
  case unsafeConfiguration(keys: [String])
  /// The folder of the repository contains links, pipes or devices, which could redirect git or block it; their paths.
  case specialFiles(paths: [String])
  /// The work tree contains other repositories as submodules; their paths.
  case nestedRepositories(paths: [String])
  /// An operation was begun in the repository and has to be finished first.
  case inProgress(RepositoryOperation)
  /// A merge has stopped, and these files are in conflict.
  case unmerged(paths: [String])
  /// The lock file of another git exists. That git is running or was killed.
  case locked(path: String)
  /// The folder exists but is not a repository.
  case notARepository(path: String)
  /// A repository that receives pushes does not check the received objects; its path.
  case objectsNotChecked(path: String)
  /// No branch is checked out.
  case detached
  /// The store uses no git.
  case noRepository(store: String)

  /// True if git is not run in the repository because of the content of its folder.
  package var isAboutRepository: Bool {
    switch self {
    case .unsafeConfiguration, .specialFiles: true
    default: false
    }
  }
}

/// An operation in a repository that must be finished before anything else can be committed.
package enum RepositoryOperation: String, CaseIterable, Sendable {
  case merge
  case rebase
  case cherryPick = "cherry-pick"
  case revert
  case bisect
}

/// The reasons why a change could not be committed or a store could not be synchronized.
package enum SyncError: Error, Equatable, Sendable {
  /// A commit contains a path that is not allowed, or an entry that cannot be part of a store: a link, a submodule, or
  /// a file in a place that Keytree reserves.
  case unsafePath(String)
  /// Files of the remote are far larger than their compressed size in the repository.
  case tooLarge(size: Int, limit: Int)
  /// The local commits contain files that are not allowed in a store.
  case notAllowed([RefusedChange])
  /// Files that are not items, such as a policy or a README, were changed on both sides.
  case bothChanged([String])
  /// People or groups were changed on both sides.
  case policiesDiverged
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
  /// No remote is configured, or there are several and none is named `origin`; their names.
  case noRemote(among: [String])
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
}
