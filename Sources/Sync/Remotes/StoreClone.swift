internal import Keyring
internal import KeyringModel

/// A clone of a store from another repository.
package struct StoreClone {
  private let url: String
  private let git: Git

  /// Creates a clone that has fetched nothing yet.
  ///
  /// - Parameters:
  ///   - url: The address of the repository in a form that git accepts.
  ///   - path: The folder of the new store, which must exist and be empty.
  ///   - git: Creates the git for that folder.
  package init(_ url: String, to path: String, git: (String) -> Git) {
    self.url = url
    var git = git(path)
    git.isInWorkTree = false
    self.git = git
  }

  /// Fetches the history without checking out files. Until Keytree's attributes are set up, attributes in the store
  /// could make git run programs of this machine on its files (threat T18).
  ///
  /// - Parameter asksPerson: True if git and ssh may ask the user at the terminal.
  /// - Throws: The errors of `Git.run`.
  package func fetch(asksPerson: Bool) throws {
    var git = try git.forNetwork(asksPerson: asksPerson)
    git.memoryLimit = Git.receivingLimit
    try git.run(
      ["-c", "transfer.fsckObjects=true", "clone", "--quiet", "--no-checkout", "--no-local", "--template="]
        + ["--no-recurse-submodules", "--config", "core.symlinks=false", "--", url, "."])
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
