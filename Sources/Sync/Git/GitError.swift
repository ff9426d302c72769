internal import Keyring
package import KeyringModel
package import Subprocess

/// The reasons why git failed.
package enum GitError: Error, Equatable, Sendable {
  /// No program of this name is in the search path.
  case notInstalled
  /// It is older than what keytree relies on; the version as it says itself.
  case tooOld(version: String)
  /// It could not be started, or wrote more than is read.
  case process(ProcessError)
  /// It ended with another status than 0; its own words, which may hold anything.
  case failed(command: String, status: Int32, message: String)
  /// A signal ended it.
  case killed(command: String, signal: Int32)
  /// It took too long, and was ended.
  case timedOut(command: String)
  /// It needed more memory than it was given, in bytes.
  case tooMuchMemory(command: String, limit: Int)
  /// The output of git does not have the documented form.
  case unexpectedOutput(command: String)
  /// Git refuses the repository, since it belongs to somebody else.
  case unsafeOwner(path: String)
  /// The configuration of the repository itself has settings that are not accepted, since they may run programs; their
  /// names, or the name of a file that has such settings.
  case unsafeConfiguration(keys: [String])
  /// The folder of the repository has links, pipes or devices, which lead git elsewhere or never end; their paths.
  case specialFiles(paths: [String])
  /// Other repositories lie in the work tree as its parts; their paths.
  case nestedRepositories(paths: [String])
  /// Something that was begun in the repository has to be ended first.
  case inProgress(RepositoryOperation)
  /// A merge has stopped, and these files are not settled.
  case unmerged(paths: [String])
  /// Another git is at work, or was killed: its lock is there.
  case locked(path: String)
  /// The folder exists and is not a repository.
  case notARepository(path: String)
  /// A repository that is pushed to does not check the objects that it receives; its path.
  case objectsNotChecked(path: String)
  /// No branch is checked out.
  case detached
  /// The store uses no git.
  case noRepository(store: String)

  /// True if no git enters the repository because of what is in its folder.
  package var isAboutRepository: Bool {
    switch self {
    case .unsafeConfiguration, .specialFiles: true
    default: false
    }
  }
}

/// Something that was begun in a repository, and during which nothing else may be committed.
package enum RepositoryOperation: String, CaseIterable, Sendable {
  case merge
  case rebase
  case cherryPick = "cherry-pick"
  case revert
  case bisect
}

/// The reasons why a change could not be committed or a store could not be synchronized.
package enum SyncError: Error, Equatable, Sendable {
  /// A commit has something where it must not have anything, or of a kind that is no part of a store: a link, a
  /// module, a file where keytree keeps its own.
  case unsafePath(String)
  /// Files of the other side have far more bytes than they take in the repository.
  case tooLarge(size: Int, limit: Int)
  /// Our own commits have files that may not be in a store.
  case notAllowed([RefusedChange])
  /// Files that are no items, such as a policy or a README, were changed on both sides.
  case bothChanged([String])
  /// People or groups were changed on both sides.
  case policiesDiverged
  /// Files are not what the history says they are, and a merge would replace them.
  case uncommitted([String])
  /// The cloned repository has no store at its top.
  case noStoreInClone(url: String)
  /// There is no other repository to synchronize with, or several of which none is called `origin`: their names.
  case noRemote(among: [String])
  /// The branch has no commit yet.
  case noCommit
  /// The branch over there does not have commits any more that it had; the last one that was seen, and the last one
  /// that is there now, or nil when the branch is gone.
  case rewritten(seen: String, now: String?)
  /// The policy over there is not one of this keyring.
  case foreignPolicy
  /// The policies of the history that are believed are larger than what is kept of them in memory.
  case policyHistoryTooLarge(limit: Int)
  /// The repository has another store; the path of its folder in the repository, empty for the top.
  case anotherStore(folder: String)
  /// Others kept being faster.
  case tooBusy(attempts: Int)
  /// The merged lines do not fit into a file of the index.
  case indexRefused(file: String, ShardError)
}
