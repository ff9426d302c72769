internal import Keyring
internal import KeyringModel
package import Sync

extension RefusedChange {
  /// The warning about a refused file, with its reason.
  package var warning: String {
    let words =
      switch reason {
      case .record(let fault): fault.message
      case .file(let reason): reason.message
      case .executable: "no file of a store is executable; its content is received"
      case .tooLarge(let size, let limit): "it has \(size) bytes, and the limit is \(limit)"
      case .needed: "it was removed, but a store cannot be read without it"
      case .policy(let error): error.message
      case .restored(let generation, let newer) where newer <= generation:
        "a person from whom the history has taken the right to sign has signed it"
      case .restored(let generation, let newer):
        "generation \(generation) is older than the accepted policy (generation \(newer))"
      case .keyFile(let problem): problem.message
      }
    let object = reason == .executable ? "the executable permission of \(path)" : path
    return "keytree: warning: refused \(object): \(words)"
  }
}

extension ErrorReport {
  /// Creates the report for an error of a merge or a synchronization.
  package init(_ error: SyncError) {
    switch error {
    case .unsafePath(let path):
      self.init(
        .damaged,
        "nothing was merged: a file on the remote, outside the store, has an unsupported name: \(path)",
        hint:
          "rename it with git: its name is not UTF-8, is not in Unicode's normalization form C, or contains a line feed"
      )
    case .tooLarge(let size, let limit):
      self.init(
        .damaged,
        "nothing was read: files in the history expand to \(size >> 20) MiB, far beyond their size in the repository "
          + "(limit: \(limit >> 20) MiB)",
        hint:
          "a push may contain files that are crafted to exhaust memory; `keytree git log --stat` shows the author"
      )
    case .commitTooLarge(let commit, let size, let limit):
      self.init(
        .damaged,
        "nothing was received: the commit \(commit) has \(size) bytes, and the limit is \(limit)",
        hint:
          "remove the commit, and those that follow it, from the branch on the server, and run the command again"
      )
    case .tooManyFiles(let commit, let folder):
      self.init(
        .damaged,
        "nothing was received: \(folder.isEmpty ? "a folder" : "the folder \(folder)") of the commit \(commit) expands "
          + "to too many files",
        hint:
          "`keytree git log -1 \(commit)` shows the author; remove the folder with a new commit, or the commit from "
          + "the server")
    case .notAllowed(let files):
      let names = files.map(\.path)
      let name = names.first ?? "NAME"
      let isAboutPolicy = files.first?.reason == .file(.notAllowed)
      let removal = "`keytree git rm --cached --sparse \(name.shellWord)` and a commit remove it"
      self.init(
        .gitFailed,
        "nothing was pushed: \(Self.list(names)) \(names.count == 1 ? "does" : "do") not belong in a store",
        hint: isAboutPolicy
          ? "`keytree policy allow \(name.shellWord)` allows it for all members; \(removal)"
          : StoreLayout.isMisplacedFile(name)
            ? "a folder for its site or service is missing: move it with "
              + "`keytree git mv \(name.shellWord) \(Self.place(ofMisplaced: name).shellWord)`, commit, and run "
              + "`keytree adopt`" : removal)
    case .bothChanged(let paths):
      self.init(
        .gitFailed, "nothing was merged: both sides changed \(Self.list(paths))",
        hint:
          "run `keytree git pull --no-rebase`, resolve the conflicts, commit, and run `keytree sync` again")
    case .policiesDiverged:
      self.init(
        .gitFailed,
        "nothing was merged: people or groups were changed both locally and on the remote",
        hint:
          "an admin can run `keytree sync --reapply`, which accepts the remote changes and applies yours on top"
      )
    case .untrustedPolicy(let reason, let commit):
      self.init(
        .policyNotTrusted,
        "nothing was merged: the policy of the remote is not trusted: \(reason.message)",
        hint: "`keytree git log -1 \(commit.prefix(12))` shows who committed it; "
          + (reason.hasRival
            ? "ask the admins which policy is theirs; an admin drops the others with `keytree sync --keep-policy`"
            : "`keytree trust` shows it and asks whether to accept it, and an admin drops it with "
              + "`keytree sync --keep-policy`"))
    case .cannotReapply(let reason):
      self.init(
        .policyNotTrusted,
        "nothing was merged: your changes of people and groups cannot be reapplied, because the policy of the remote "
          + "is not trusted: \(reason.message)",
        hint: reason.hasRival
          ? "ask the admins which policy is theirs; an admin drops the others with `keytree sync --keep-policy`"
          : "an admin can run `keytree sync --keep-policy`, which drops the changes of people and groups on the remote"
      )
    case .uncommitted(let paths):
      self.init(
        .gitFailed, "nothing was merged: \(Self.list(paths)) has changes that keytree did not make",
        hint:
          "`keytree git diff` shows the changes, `keytree check` checks the store; commit or revert the changes"
      )
    case .noStoreInClone(let url):
      self.init(
        .notFound, "nothing was cloned: the top folder of \(url) is not a store",
        hint:
          "if the store is in a subfolder, clone the repository with git and give the folder with `--store`")
    case .emptyRepository(let url):
      self.init(
        .notFound, "nothing was cloned: \(url) has no branch",
        hint:
          "push a store to it first, from the machine that has one: `keytree git remote add origin URL`, then "
          + "`keytree sync`; a bundle gets a branch with `keytree git bundle create FILE main`")
    case .noBranch(let url, let name, let branches):
      self.init(
        .notFound, "nothing was cloned: \(url) has no branch \(Self.quote(name))",
        hint: branches.isEmpty
          ? "the repository is empty" : "it has \(Self.branches(branches))")
    case .severalBranches(let url, let branches, let hasDefault):
      self.init(
        .ambiguous,
        hasDefault
          ? "nothing was cloned: the default branch of \(url) has no store; other branches have one: "
            + Self.series(branches)
          : "nothing was cloned: \(url) has no default branch; its branches are \(Self.series(branches))",
        hint: "choose one with `keytree clone --branch NAME`")
    case .noRemote(let branch, let names):
      self.init(
        .gitFailed,
        names.isEmpty
          ? "no remote repository is configured"
          : "the branch has no upstream among the configured remotes: \(Self.list(names))",
        hint: names.isEmpty
          ? "`keytree git remote add origin URL` adds one"
          : "choose one with `keytree git config \("branch.\(branch).remote".shellWord) NAME`, and run "
            + "`keytree sync` again")
    case .noCommit:
      self.init(.gitFailed, "the branch has no commit", hint: "`keytree doctor` checks the repository")
    case .rewritten(let seen, let now):
      self.init(
        .gitFailed,
        "the branch on the remote has lost commits: it was at \(seen) and "
          + (now.map { "is now at \($0)" } ?? "no longer exists"),
        hint: "ask who did that and why; "
          + (now == nil
            ? "`keytree git ls-remote` lists the branches, and `keytree sync --accept-rewritten` creates this one again"
            : "`keytree sync --accept-rewritten` merges the current state"))
    case .foreignPolicy:
      self.init(
        .policyNotTrusted, "nothing was merged: the policy on the remote belongs to another keyring",
        hint: "`keytree git remote -v` shows the address; ask an admin whom you know")
    case .policyHistoryTooLarge(let limit):
      self.init(
        .damaged, "the signed policies of the history are larger than \(limit) bytes",
        hint: "`keytree git log --stat -- policy.json` shows who added them")
    case .anotherStore(let folder):
      self.init(
        .gitFailed,
        folder.isEmpty
          ? "the repository has another store in its top folder, but can contain only one"
          : "the repository has another store in the folder \(folder), but can contain only one",
        hint: "`git subtree split` or `git filter-repo` moves a store to a separate repository")
    case .tooBusy(let attempts):
      self.init(
        .gitFailed, "other users pushed first \(attempts) times: your changes are committed, but not pushed",
        hint: "run the command again")
    case .indexRefused(let file, let error):
      let reason: String =
        switch error {
        case .full(let limit): "it would be larger than \(limit) bytes"
        case .line(let error): error.message
        case .damaged, .wrongShard: "it is damaged"
        }
      self.init(
        .damaged, "nothing was merged: \(file): \(reason)",
        hint: "`keytree check --repair` repairs the local store")
    }
  }

  /// Returns the first paths, and the number of the others.
  private static func list(_ paths: [String]) -> String {
    let shown = paths.prefix(5).joined(separator: ", ")
    return paths.count > 5 ? "\(shown) and \(paths.count - 5) more" : shown
  }

  /// Returns a path for a file that is directly in the folder of a class: with the account in a folder of its name.
  private static func place(ofMisplaced path: String) -> String {
    let name = path.dropLast(StoreLayout.secretExtension.utf8.count)
    return "\(name)/ACCOUNT\(StoreLayout.secretExtension)"
  }

  /// Returns names as a part of a sentence.
  private static func series(_ names: [String]) -> String {
    if names.count > 5 { return list(names) }
    guard let last = names.last, names.count > 1 else { return list(names) }
    return "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }

  private static func branches(_ names: [String]) -> String {
    names.count == 1 ? "only the branch \(names[0])" : "the branches \(series(names))"
  }
}
