internal import Keyring
internal import KeyringModel

/// A clone of a store from another repository.
package struct StoreClone {
  private let url: String
  private let branch: String?
  private let git: Git

  /// Creates a clone that has fetched nothing yet.
  ///
  /// - Parameters:
  ///   - url: The address of the repository in a form that git accepts.
  ///   - branch: The branch of the store; nil for the default branch of the repository or, if that does not exist, its
  ///     only branch.
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
  /// - Throws: `severalBranches`; the errors of `Git.run`.
  package func fetch(asksPerson: Bool) throws {
    var git = try git.forNetwork(asksPerson: asksPerson)
    git.memoryLimit = Git.receivingLimit
    try git.run(
      ["-c", "transfer.fsckObjects=true", "clone", "--quiet", "--no-checkout", "--no-local", "--template="]
        + ["--no-recurse-submodules", "--config", "core.symlinks=false"]
        + (branch.map { ["--branch=\($0)"] } ?? []) + ["--", url, "."])
    if try self.git.commit("HEAD") == nil { try useOnlyBranch() }
  }

  /// Uses the only branch of a repository whose `HEAD` refers to a branch that does not exist: `git init --bare` creates
  /// such a `HEAD` before the first push, and it stays if that push creates a branch with another name.
  private func useOnlyBranch() throws {
    let names = try Remote.names(in: git)
    guard let remote = names.first else { return }
    let prefix = "refs/remotes/\(remote)/"
    let list = try git.run(["for-each-ref", "--format=%(refname)", prefix])
    let branches = String(decoding: list, as: UTF8.self).split(separator: "\n")
      .map { String($0.dropFirst(prefix.count)) }.filter { $0 != "HEAD" }
    guard let name = branches.first else { return }
    guard branches.count == 1 else { throw SyncError.severalBranches(url: url, branches) }
    let missing = String(decoding: try git.run(["symbolic-ref", "--short", "HEAD"]), as: UTF8.self)
    try git.run(["update-ref", "refs/heads/\(name)", "\(prefix)\(name)"])
    try git.run(["symbolic-ref", "HEAD", "refs/heads/\(name)"])
    try git.run(["config", "--local", "branch.\(name).remote", remote])
    try git.run(["config", "--local", "branch.\(name).merge", "refs/heads/\(name)"])
    // The section exists only if the remote has reported the name of the missing branch.
    _ = try git.outcome(
      of: ["config", "--local", "--remove-section", "branch.\(missing.filter { $0 != "\n" })"])
  }

  /// Checks out only the files of the store. The user has not accepted a policy yet that could allow more files.
  ///
  /// - Parameter repository: The clone, with Keytree's attributes.
  /// - Throws: `noStoreInClone`; the errors of `Git.run`.
  package func checkOut(_ repository: Repository) throws {
    let head = try repository.git.commit("HEAD")
    guard let head else { throw SyncError.noStoreInClone(url: url) }
    let policy = "\(head):\(StoreLayout.policy)"
    guard try ObjectReader(git: repository.git).names(of: [policy])[policy] != nil else {
      throw SyncError.noStoreInClone(url: url)
    }
    // Limits the number of files before git's index is filled with them.
    _ = try repository.git.records(["ls-tree", "-r", "-z", "--name-only", "HEAD"])
    try repository.checkOut(only: AllowedFiles(beside: nil))
    if let remote = try Remote.find(in: repository) {
      try repository.git.run(["update-ref", remote.seen, head])
    }
  }

}
