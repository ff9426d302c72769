internal import Keyring

extension Repository {
  /// A repository without a work tree, whose top is the store.
  ///
  /// - Parameters:
  ///   - folder: The folder of the repository itself.
  ///   - seesQuarantine: Whether it sees what a push has brought, as a hook has to.
  ///   - makeGit: Git in a folder.
  /// - Returns: nil when the folder is no such repository.
  package static func bare(
    _ folder: String, seesQuarantine: Bool = false, git makeGit: (String) -> Git
  ) -> Repository? {
    guard let real = realPath(folder), isFolder("\(real)/objects"), isFolder("\(real)/refs"),
      exists("\(real)/HEAD")
    else { return nil }
    var git = makeGit(real)
    git.isBare = true
    git.seesQuarantine = seesQuarantine
    return Repository(top: real, prefix: "", gitFolder: real, commonFolder: real, git: git)
  }
}
