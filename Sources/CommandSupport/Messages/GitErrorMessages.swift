internal import Subprocess
package import Sync

/// The messages and hints for errors of git. The exit code is always the same.
extension ErrorReport {
  /// Creates the report for an error of git.
  package init(_ error: GitError) {
    self.init(.gitFailed, Self.words(error), hint: Self.hint(error))
  }

  /// Creates the report for a change that is stored but not committed.
  package init(notCommitted error: any Error) {
    let report = ErrorReport(describing: error)
    self.init(
      .gitFailed, "stored, but not committed: \(report.message ?? "it failed")", hint: report.hint ?? "")
  }

  /// Returns the description of the error, without its consequence for the command.
  package static func words(_ error: GitError) -> String {
    switch error {
    case .notInstalled: "git is not installed, or only where others can change it"
    case .tooOld(let version):
      "cannot use git \(version): it must be \(Git.oldestVersion.0).\(Git.oldestVersion.1) or newer"
    case .process(let error): "cannot run git: \(words(error))"
    case .failed(let command, let status, ""): "`git \(command)` failed (status \(status))"
    case .failed(let command, _, let message): "`git \(command)` says: \(message.trimmed)"
    case .killed(let command, let signal): "`git \(command)` was ended by signal \(signal)"
    case .timedOut(let command): "`git \(command)` took too long"
    case .tooMuchMemory(let command, let limit):
      "`git \(command)` needed more than \(limit >> 20) MiB of memory"
    case .unexpectedOutput(let command): "what `git \(command)` printed cannot be read"
    case .unsafeOwner(let path): "git refuses the repository in \(path): it belongs to somebody else"
    case .unsafeConfiguration(let keys):
      "the repository has settings of its own that may run programs: \(keys.joined(separator: ", "))"
    case .specialFiles(let paths):
      "the repository has links, pipes or devices in place of files: \(paths.joined(separator: ", "))"
    case .nestedRepositories(let paths):
      "the repository contains another one: \(paths.prefix(5).joined(separator: ", "))"
    case .inProgress(let operation): "a \(operation.rawValue) is in progress in the repository"
    case .unmerged(let paths):
      "a merge has stopped: \(paths.count == 1 ? "" : "\(paths.count) files, among them ")"
        + "\(paths.first ?? "") \(paths.count == 1 ? "is" : "are") in conflict"
    case .locked(let path): "another git is at work, or was killed: there is \(path)"
    case .notARepository(let path): "what is in \(path) is no repository"
    case .objectsNotChecked: "this repository does not check the objects of a push, so it accepts none"
    case .detached: "no branch is checked out"
    case .noRepository(let store): "the store \(store) uses no git"
    }
  }

  private static func words(_ error: ProcessError) -> String {
    switch error {
    case .notFound(let program): "there is no \(program)"
    case .notExecutable(let program, let number): "\(program): \(words(number))"
    case .containsNUL: "a word holds a NUL character"
    case .tooMuchOutput(_, _, let limit): "it printed more than \(limit) bytes"
    case .systemCall(let action, let path, let number): "cannot \(action) \(path): \(words(number))"
    }
  }

  private static func hint(_ error: GitError) -> String {
    switch error {
    case .notInstalled: "`apt install git`; the next command that changes the store commits what waits"
    case .tooOld: "a newer one, first in `PATH`, is taken"
    case .unsafeOwner(let path):
      "if it is yours, `git config --global --add safe.directory \(path)` says so"
    case .unsafeConfiguration:
      "remove them from the repository's configuration; set what you need in your own with `git config --global`"
    case .specialFiles: "replace them with the files that they lead to, or remove them"
    case .nestedRepositories(let paths):
      "`git update-index --force-remove \(paths.first ?? "PATH")` removes it from the repository"
    case .inProgress(let operation) where operation == .bisect: "`keytree git bisect reset` ends it"
    case .inProgress(let operation) where operation == .merge || operation == .rebase:
      "`keytree git \(operation.rawValue) --abort` takes it back, and `keytree sync` merges without a conflict"
    case .inProgress(let operation):
      "end it with `keytree git \(operation.rawValue) --continue` or `--abort`"
    case .unmerged:
      "settle what `keytree git status` names, and `keytree git add` it; or `keytree git reset --merge` takes it back"
    case .locked: "try again when it is done; `rm` that file if no git runs"
    case .notARepository: "move `.git` away; `keytree doctor` makes a new history"
    case .objectsNotChecked(let path):
      "run `git config receive.fsckObjects true` on the server, in \(path)"
    case .detached: "`keytree git switch BRANCH` checks one out"
    case .noRepository: "`keytree git init` makes a repository of it"
    case .failed(_, _, let message)
    where message.contains("tell me who you are") || message.contains("auto-detection"):
      "`git config --global user.name` and `user.email` tell git who you are"
    case .failed("clone", _, _): "is the address right, and can this machine reach it?"
    case .failed("fetch", _, _), .failed("push", _, _):
      "`keytree git remote -v` shows the address; is it right, and can this machine reach it?"
    case .tooMuchMemory:
      "the remote may have files that are crafted to exhaust memory; ask who pushed last"
    case .process, .failed, .killed, .timedOut, .unexpectedOutput:
      "`keytree doctor` looks at git and the repository"
    }
  }
}

extension String {
  /// The text without a full stop at the end, because git's message becomes part of a sentence.
  fileprivate var trimmed: String { hasSuffix(".") ? String(dropLast()) : self }
}
