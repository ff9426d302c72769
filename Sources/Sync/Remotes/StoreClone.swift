internal import Keyring
internal import KeyringModel

/// A store that is copied from another repository, for the first time on this machine.
package struct StoreClone {
  private let url: String
  private let git: Git

  /// Prepares a clone.
  ///
  /// - Parameters:
  ///   - url: Where the repository is, as git takes it.
  ///   - path: The folder of the store to be: there already, and empty.
  ///   - git: Git in that folder.
  package init(_ url: String, to path: String, git: (String) -> Git) {
    self.url = url
    var git = git(path)
    git.isInWorkTree = false
    self.git = git
  }

  /// Fetches the history, and no file yet: before there are attributes of ours, those that come with the store could
  /// have programs of this machine run over its files (threat T18).
  ///
  /// - Parameter asksPerson: Whether git and ssh may ask at the terminal.
  /// - Throws: as `Git.run`.
  package func fetch(asksPerson: Bool) throws {
    var git = try git.forNetwork(asksPerson: asksPerson)
    git.memoryLimit = Git.receivingLimit
    try git.run(
      ["-c", "transfer.fsckObjects=true", "clone", "--quiet", "--no-checkout", "--no-local", "--template="]
        + ["--no-recurse-submodules", "--config", "core.symlinks=false", "--", url, "."])
  }

  /// Puts the files of the store in place, and nothing else: nobody has accepted a policy yet that could allow more.
  ///
  /// - Parameter repository: The clone, with our attributes.
  /// - Throws: `noStoreInClone`; as `Git.run`.
  package func checkOut(_ repository: Repository) throws {
    let head = try repository.git.commit("HEAD")
    guard let head else { throw SyncError.noStoreInClone(url: url) }
    let policy = "\(head):\(StoreLayout.policy)"
    guard try ObjectReader(git: repository.git).names(of: [policy])[policy] != nil else {
      throw SyncError.noStoreInClone(url: url)
    }
    // Before the index of git gets them all.
    _ = try repository.git.records(["ls-tree", "-r", "-z", "--name-only", "HEAD"])
    try repository.checkOut(only: AllowedFiles(beside: nil))
    if let remote = try Remote.find(in: repository) {
      try repository.git.run(["update-ref", remote.seen, head])
    }
  }

}
