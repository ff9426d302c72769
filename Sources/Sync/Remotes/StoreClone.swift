internal import Keyring
internal import KeyringModel
internal import Subprocess

/// A clone of a store from another repository.
package struct StoreClone {
  private let url: String
  private let branch: String?
  private let git: Git

  /// Creates a clone that has fetched nothing yet.
  ///
  /// - Parameters:
  ///   - url: The address of the repository in a form that git accepts.
  ///   - branch: The branch of the store; nil for the default branch of the repository or, if that has no store, the
  ///     only branch with one.
  ///   - path: The folder of the new store, which must exist and be empty.
  ///   - git: Creates the git for that folder.
  package init(_ url: String, branch: String?, to path: String, git: (String) -> Git) {
    (self.url, self.branch) = (url, branch)
    var git = git(path)
    git.isInWorkTree = false
    self.git = git
  }

  /// Fetches the history without checking out files. Until Keytree's attributes are set up, attributes in the store
  /// could make git run programs of this machine on its files (threat T18).
  ///
  /// - Parameter asksPerson: True if git and ssh may ask the user at the terminal.
  /// - Throws: `emptyRepository`; `noBranch`; `severalBranches`; `commitTooLarge`; the errors of `RemoteAccess`
  ///   and of `Git.run`.
  package func fetch(asksPerson: Bool) throws {
    var git = try git.forNetwork(asksPerson: asksPerson)
    git.memoryLimit = Git.receivingLimit
    let program = try RemoteAccess(in: git).program(forCloneOf: url)
    try git.run(
      [
        "-c", "transfer.fsckObjects=true", "clone", "--quiet", "--no-checkout", "--no-local", "--no-tags",
        "--template=",
      ]
        + (program.map { ["--upload-pack=\($0)"] } ?? [])
        + ["--no-recurse-submodules", "--config", "core.symlinks=false", "--", url, "."])
    try self.git.refuseLargeCommits(["--all"], besides: nil)
    try chooseBranch()
  }

  /// Uses the wanted branch or, if the default branch has no store, the only branch that has one.
  ///
  /// `HEAD` of a repository often refers to a branch that does not exist: `git init --bare` creates such a `HEAD` before
  /// the first push, and it stays if that push creates a branch with another name. A hosted repository may have a
  /// default branch that contains only a description.
  private func chooseBranch() throws {
    guard let remote = try Remote.names(in: git).first else { throw SyncError.emptyRepository(url: url) }
    let prefix = "refs/remotes/\(remote)/"
    let list = try git.run(["for-each-ref", "--format=%(objectname) %(refname)", prefix])
    // Names of branches are no keys of a dictionary, because git compares their bytes.
    let branches = list.split(separator: UInt8(ascii: "\n")).compactMap {
      line -> (commit: String, name: String)? in
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
      guard words.count == 2 else { return nil }
      return (
        String(decoding: words[0], as: UTF8.self),
        String(decoding: words[1].dropFirst(prefix.utf8.count), as: UTF8.self)
      )
    }.filter { $0.name != "HEAD" }
    if let branch {
      guard branches.contains(where: { $0.name.utf8.elementsEqual(branch.utf8) }) else {
        throw SyncError.noBranch(url: url, name: branch, among: branches.map(\.name))
      }
      return try use(branch, of: remote)
    }
    // A bundle can contain `HEAD` or a tag only.
    if branches.isEmpty { throw SyncError.emptyRepository(url: url) }
    let hasDefault = try git.commit("HEAD") != nil
    let head = "HEAD:\(StoreLayout.policy)"
    let policy = { (commit: String) in "\(commit):\(StoreLayout.policy)" }
    let found = try ObjectReader(git: git).names(of: [head] + branches.map { policy($0.commit) })
    if hasDefault, found[head] != nil { return }
    let stores = branches.filter { found[policy($0.commit)] != nil }.map(\.name).sorted()
    guard let name = stores.first else { throw SyncError.noStoreInClone(url: url) }
    guard stores.count == 1 else {
      throw SyncError.severalBranches(url: url, stores, hasDefault: hasDefault)
    }
    try use(name, of: remote)
  }

  /// Makes a branch of the remote the only local branch.
  private func use(_ name: String, of remote: String) throws {
    // A detached `HEAD` has no name.
    let question = ["symbolic-ref", "--quiet", "HEAD"]
    let outcome = try git.outcome(of: question)
    guard outcome.ending == .exited(status: 0) || outcome.ending == .exited(status: 1) else {
      throw git.failure(question, outcome)
    }
    let old = String(decoding: outcome.output, as: UTF8.self).filter { $0 != "\n" }
    let new = "refs/heads/\(name)"
    if old == new { return }
    try git.run(["update-ref", new, "refs/remotes/\(remote)/\(name)"])
    try git.run(["symbolic-ref", "HEAD", new])
    try git.run(["config", "--local", "branch.\(name).remote", remote])
    try git.run(["config", "--local", "branch.\(name).merge", new])
    if old.isEmpty { return }
    if try git.commit(old) != nil { try git.run(["update-ref", "-d", old]) }
    // The section exists only if the remote has reported the name of its default branch.
    _ = try git.outcome(
      of: ["config", "--local", "--remove-section", "branch.\(old.dropFirst("refs/heads/".count))"])
  }

  /// Checks out only the files of the store. The user has not accepted a policy yet that could allow more files.
  ///
  /// - Parameter repository: The clone, with Keytree's attributes.
  /// - Returns: The files whose executable permission was not received.
  /// - Throws: `noStoreInClone`; `tooManyFiles`; the errors of `Git.run`.
  package func checkOut(_ repository: Repository) throws -> [RefusedChange] {
    let head = try repository.git.commit("HEAD")
    guard let head else { throw SyncError.noStoreInClone(url: url) }
    let policy = "\(head):\(StoreLayout.policy)"
    guard try ObjectReader(git: repository.git).names(of: [policy])[policy] != nil else {
      throw SyncError.noStoreInClone(url: url)
    }
    do {
      // Limits the number of files before git's index is filled with them.
      _ = try repository.git.records(["ls-tree", "-r", "-z", "--name-only", "HEAD"])
    } catch let error as GitError where error.isAboutLength {
      throw SyncError.tooManyFiles(commit: head, folder: "")
    }
    let executables = try repository.checkOut(only: AllowedFiles(beside: nil))
    if let remote = try Remote.find(in: repository) {
      try repository.git.run(["update-ref", remote.seen, head])
    }
    return executables
  }

}
