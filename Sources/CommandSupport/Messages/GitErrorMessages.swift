internal import Encoding
internal import Subprocess
package import Sync

/// The messages and hints for errors of git. The exit code is always `gitFailed`.
extension ErrorReport {
  /// Creates the report for an error of git.
  package init(_ error: GitError) {
    self.init(.gitFailed, Self.message(of: error), hint: Self.hint(error))
  }

  /// Creates the report for a change that is stored but not committed.
  package init(notCommitted error: any Error) {
    let report = ErrorReport(describing: error)
    self.init(
      .gitFailed, "stored, but not committed: \(report.message ?? "it failed")", hint: report.hint ?? "")
  }

  /// Returns the description of the error, without its consequence for the command.
  package static func message(of error: GitError) -> String {
    switch error {
    case .notInstalled: "git is not installed, or only in a folder that other users can change"
    case .tooOld(let version):
      "cannot use git \(version): it must be \(Git.oldestVersion.0).\(Git.oldestVersion.1) or newer"
    case .process(let error): "cannot run git: \(Self.message(of: error))"
    case .failed(let command, let status, ""): "`git \(command)` failed (status \(status))"
    case .failed(let command, _, let message): "`git \(command)` failed: \(message.trimmed)"
    case .killed(let command, let signal): "`git \(command)` was killed by signal \(signal)"
    case .timedOut(let command): "`git \(command)` took too long"
    case .tooMuchMemory(let command, let limit):
      "`git \(command)` needed more than \(limit >> 20) MiB of memory"
    case .unexpectedOutput(let command): "the output of `git \(command)` cannot be read"
    case .unsafeOwner(let path): "git refuses the repository in \(path): it belongs to another user"
    case .unsafeConfiguration(let keys):
      "the repository's own configuration has settings that can run programs or make git read other "
        + "files: \(keys.joined(separator: ", "))"
    case .unsafeFiles(let paths):
      "the repository has files or folders that can make git use other repositories or settings: "
        + paths.joined(separator: ", ")
    case .unsafeOperation(let operation, let path):
      "the \(operation.rawValue) in progress in the repository would run a program: \(path)"
    case .specialFiles(let paths):
      "the repository contains links, pipes or devices instead of files: \(paths.joined(separator: ", "))"
    case .unsafeRemote(let path, let entries):
      "the remote repository \(path) has settings or files that can run programs or redirect git: "
        + entries.joined(separator: ", ")
    case .unsupportedTransport(let name, let remote):
      RemoteAddress.isUsual(transport: name)
        ? "the remote \(remote) uses the transport \(name), which your git configuration does not allow"
        : "the remote \(remote) needs the program `git-remote-\(name)`, which your git configuration does not allow"
    case .unsupportedAddress(let setting): "the address of the remote cannot be checked: \(setting)"
    case .nestedRepositories(let paths):
      "the repository contains another repository: \(paths.prefix(5).joined(separator: ", "))"
    case .inProgress(let operation): "a \(operation.rawValue) is in progress in the repository"
    case .unmerged(let paths):
      "a merge has stopped: \(paths.count == 1 ? "" : "\(paths.count) files, including ")"
        + "\(paths.first ?? "")\(paths.count == 1 ? " is" : ", are") in conflict"
    case .locked(let path): "another git process is running or was killed: \(path) exists"
    case .notARepository(let path): "\(path) is not a git repository"
    case .objectsNotChecked:
      "every push is refused, because this repository does not check the objects that it receives"
    case .detached: "no branch is checked out"
    case .noRepository(let store): "the store \(store) has no git repository"
    }
  }

  private static func message(of error: ProcessError) -> String {
    switch error {
    case .notFound(let program): "\(program) was not found"
    case .notExecutable(let program, let number): "\(program): \(systemMessage(number))"
    case .containsNUL: "an argument contains a NUL character"
    case .tooMuchOutput(_, _, let limit): "it printed more than \(limit) bytes"
    case .systemCall(let action, let path, let number): "cannot \(action) \(path): \(systemMessage(number))"
    }
  }

  static func hint(_ error: GitError) -> String {
    switch error {
    case .notInstalled:
      "run `apt install git`; the next command that changes the store commits the pending changes"
    case .tooOld: "install a newer version and put it first in `PATH`"
    case .unsafeOwner(let path):
      "if you trust it, run `git config --global --add safe.directory \(path)`"
    case .unsafeConfiguration:
      "remove them from the repository's configuration; set what you need in your own with `git config --global`"
    case .unsafeFiles(let paths) where paths == [".git"] || paths == [".git/commondir"]:
      "clone the repository again, or create a linked work tree with `git worktree add`"
    case .unsafeFiles: "remove what you do not need, or move it out of the repository's folder"
    case .unsafeOperation(let operation, _): "`keytree git \(operation.rawValue) --abort` undoes it"
    case .specialFiles: "replace them with regular files, or remove them"
    case .unsafeRemote(let path, let entries) where entries.allSatisfy { $0.hasPrefix("hooks") }:
      "run `keytree git remote add NAME \(path.shellWord)` and use NAME: then the hooks do not run"
    case .unsafeRemote:
      "if you trust that repository, remove them from its folder or its file `config`; otherwise use another address"
    case .unsupportedTransport(let name, _):
      "use an address of ssh or https; if you want to use that one, allow it with "
        + "`git config --global protocol.\(name).allow always`"
    case .unsupportedAddress: "give the absolute path, without control characters, as the address"
    case .nestedRepositories(let paths):
      "`git update-index --force-remove \(paths.first ?? "PATH")` removes it from the repository"
    case .inProgress(let operation) where operation == .bisect: "`keytree git bisect reset` ends it"
    case .inProgress(let operation) where operation == .merge || operation == .rebase:
      "`keytree git \(operation.rawValue) --abort` undoes it, and `keytree sync` merges without a conflict"
    case .inProgress(let operation):
      "finish it with `keytree git \(operation.rawValue) --continue` or `--abort`"
    case .unmerged:
      "resolve the files that `keytree git status` lists and `keytree git add` them, or undo the merge with "
        + "`keytree git reset --merge`"
    case .locked: "try again when it has finished; if no git process is running, `rm` that file"
    case .notARepository: "move `.git` away; `keytree doctor` creates a new history"
    case .objectsNotChecked(let path):
      "run `git config receive.fsckObjects true` on the server, in \(path)"
    case .detached: "`keytree git switch BRANCH` checks out a branch"
    case .noRepository: "`keytree git init` creates one"
    case .failed(_, _, let message)
    where message.contains(bytesOf: "tell me who you are") || message.contains(bytesOf: "auto-detection"):
      "set `user.name` and `user.email` with `git config --global`"
    case .failed("clone", _, _): "check the address and that this machine can reach it"
    case .failed("fetch", _, _), .failed("push", _, _):
      "check the address (`keytree git remote -v`) and that this machine can reach it"
    case .tooMuchMemory:
      "the remote may contain files or a commit that are crafted to exhaust memory; ask who pushed last, and remove the "
        + "last commits from the branch on the server"
    case .process, .failed, .killed, .timedOut, .unexpectedOutput:
      "`keytree doctor` checks git and the repository"
    }
  }
}

extension String {
  /// The text without a period at the end, because git's message becomes part of a sentence.
  fileprivate var trimmed: String { hasSuffix(".") ? String(dropLast()) : self }
}
