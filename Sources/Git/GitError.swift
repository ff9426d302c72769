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
  /// The repository's own configuration has settings that are not accepted, because they may run programs; their names.
  case unsafeConfiguration(keys: [String])
  /// The repository has files or folders that are not accepted, because git may read other repositories or settings
  /// through them; their paths.
  case unsafeFiles(paths: [String])
  /// The operation in progress would run a program; the operation, and the file that names the program.
  case unsafeOperation(RepositoryOperation, path: String)
  /// The folder of the repository contains links, pipes or devices, which could redirect git or block it; their paths.
  case specialFiles(paths: [String])
  /// A remote repository on this machine has settings that are not accepted, or files that could redirect git or block
  /// it; its path, and the names of the settings and files.
  case unsafeRemote(path: String, entries: [String])
  /// Git would run the program `git-remote-NAME` to connect to a remote, and the user's own configuration does not allow
  /// it; the name, and the name of the remote with its address, or only the address.
  case unsupportedTransport(name: String, remote: String)
  /// An address is not UTF-8, contains control characters, or begins with the home folder of another user, so that it
  /// cannot be checked; the name of the setting, or the address.
  case unsupportedAddress(setting: String)
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
    case .unsafeConfiguration, .unsafeFiles, .specialFiles: true
    default: false
    }
  }

  /// True if a list was too long to be created or read.
  package var isAboutLength: Bool {
    switch self {
    case .process(let error): if case .tooMuchOutput = error { true } else { false }
    case .tooMuchMemory: true
    default: false
    }
  }

  /// True if git is not run because of a remote.
  package var isAboutRemote: Bool {
    switch self {
    case .unsafeConfiguration, .unsafeRemote, .unsupportedTransport, .unsupportedAddress: true
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
