internal import Keyring
internal import KeyringModel
package import Sync

extension RefusedChange {
  /// The warning about a refused file, with the reason.
  package var warning: String {
    let words =
      switch reason {
      case .record(let fault): fault.words
      case .file(let reason): reason.words
      case .tooLarge(let size, let limit): "it has \(size) bytes, and the limit is \(limit)"
      case .needed: "it was removed, and no store can be read without it"
      case .policy(let error): error.words
      }
    return "keytree: warning: refused \(path): \(words)"
  }
}

extension ErrorReport {
  /// Creates the report for an error of a merge or a synchronization.
  package init(_ error: SyncError) {
    switch error {
    case .unsafePath(let path):
      self.init(
        .damaged, "nothing was merged: the remote has a file \(path) outside of the store",
        hint: "its name is not UTF-8, or has a line feed; rename it with git")
    case .tooLarge(let size, let limit):
      self.init(
        .damaged,
        "nothing was read: files of the history have \(size >> 20) MiB and take so little in the repository that the "
          + "limit is \(limit >> 20) MiB",
        hint:
          "a push may have brought files that are crafted to exhaust memory; `keytree git log --stat` shows who"
      )
    case .notAllowed(let files):
      let names = files.map(\.path)
      let name = names.first ?? "NAME"
      let isAboutPolicy = files.first?.reason == .file(.notAllowed)
      self.init(
        .gitFailed,
        "nothing was sent: \(Self.list(names)) \(names.count == 1 ? "does" : "do") not belong in a store",
        hint: isAboutPolicy
          ? "`keytree policy allow \(name)` allows it for everybody; `keytree git rm --cached --sparse \(name)` and a commit "
            + "remove it"
          : "`keytree git rm --cached --sparse \(name)` and a commit remove it")
    case .bothChanged(let paths):
      self.init(
        .gitFailed, "nothing was merged: both sides have changed \(Self.list(paths))",
        hint: "`keytree git pull --no-rebase` merges them; settle what it names, commit, and run it again")
    case .policiesDiverged:
      self.init(
        .gitFailed, "nothing was merged: people or groups were changed here and over there",
        hint:
          "`keytree sync --reapply` takes theirs and makes your changes again on top; an admin has to do it")
    case .uncommitted(let paths):
      self.init(
        .gitFailed, "nothing was merged: \(Self.list(paths)) was changed, but not by keytree",
        hint: "`keytree git diff` shows it; `keytree check` looks at the store; commit it or take it back")
    case .noStoreInClone(let url):
      self.init(
        .notFound, "there is no store at the top of \(url); nothing was made",
        hint: "a store in a folder of a larger repository is cloned with git and named with `--store`")
    case .noRemote(let names):
      self.init(
        .gitFailed,
        names.isEmpty
          ? "there is no repository to synchronize with"
          : "the branch belongs to none of the repositories that git knows: \(Self.list(names))",
        hint: names.isEmpty
          ? "`keytree git remote add origin URL` names one"
          : "`keytree git branch --set-upstream-to NAME/BRANCH` says which, or rename one to `origin`")
    case .noCommit:
      self.init(.gitFailed, "the branch has no commit", hint: "`keytree doctor` looks at the repository")
    case .rewritten(let seen, let now):
      self.init(
        .gitFailed,
        "the branch over there has lost commits: it was at \(seen) and "
          + (now.map { "is now at \($0)" } ?? "is gone now"),
        hint: "ask who did that and why; `keytree sync --accept-rewritten` merges what is there now")
    case .foreignPolicy:
      self.init(
        .policyNotTrusted, "nothing was merged: the policy over there is not one of this keyring",
        hint: "`keytree git remote -v` shows where that is; ask an admin you know")
    case .policyHistoryTooLarge(let limit):
      self.init(
        .damaged, "the signed policies of the history are larger than \(limit) bytes",
        hint: "`keytree git log --stat -- policy.json` shows who has added them")
    case .anotherStore(let folder):
      self.init(
        .gitFailed,
        folder.isEmpty
          ? "the repository has another store at its top, and can have only one"
          : "the repository has another store in the folder \(folder), and can have only one",
        hint: "`git subtree split` or `git filter-repo` moves a store to a repository of its own")
    case .tooBusy(let attempts):
      self.init(
        .gitFailed, "others were faster \(attempts) times: your changes are committed and not sent",
        hint: "run it again")
    case .indexRefused(let file, let error):
      let reason: String =
        switch error {
        case .full(let limit): "it would have more than \(limit) bytes"
        case .line(let error): error.words
        case .damaged, .wrongShard: "it is damaged"
        }
      self.init(
        .damaged, "nothing was merged: \(file): \(reason)",
        hint: "`keytree check --repair` settles what is wrong on this side")
    }
  }

  /// Returns some paths, and the number of further ones.
  private static func list(_ paths: [String]) -> String {
    let shown = paths.prefix(5).joined(separator: ", ")
    return paths.count > 5 ? "\(shown) and \(paths.count - 5) more" : shown
  }
}
