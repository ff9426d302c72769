package import Keyring
package import Subprocess

/// Why git did not do what it was asked.
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
  /// What it printed is not what it prints.
  case unexpectedOutput(command: String)
  /// Git refuses the repository, since it belongs to somebody else.
  case unsafeOwner(path: String)
  /// Settings that came with the repository run programs; their names.
  case unsafeConfiguration(keys: [String])
  /// Something that was begun in the repository has to be ended first.
  case inProgress(RepositoryOperation)
  /// Another git is at work, or was killed: its lock is there.
  case locked(path: String)
  /// What stands where a repository should be is none.
  case notARepository(path: String)
  /// The store uses no git.
  case noRepository(store: String)
}

/// Something that was begun in a repository, and during which nothing else may be committed.
package enum RepositoryOperation: String, CaseIterable, Sendable {
  case merge
  case rebase
  case cherryPick = "cherry-pick"
  case revert
  case bisect
}

/// Why a change did not get into the history, or something else that takes both the store and git.
package enum SyncError: Error, Equatable, Sendable {
  case git(GitError)
  case keyring(KeyringError)
}
