internal import Keyring

extension Repository {
  /// A repository without a work tree.
  ///
  /// - Parameters:
  ///   - folder: The folder of the repository itself.
  ///   - store: The folder of the store in it, as a path from the top; empty when it is the top.
  ///   - seesQuarantine: Whether it sees what a push has brought, as a hook has to.
  ///   - makeGit: Git in a folder.
  /// - Returns: nil when the folder is no such repository.
  package static func bare(
    _ folder: String, store: String = "", seesQuarantine: Bool = false, git makeGit: (String) -> Git
  ) -> Repository? {
    guard let real = realPath(folder), isFolder("\(real)/objects"), isFolder("\(real)/refs"),
      exists("\(real)/HEAD")
    else { return nil }
    var git = makeGit(real)
    git.isBare = true
    git.seesQuarantine = seesQuarantine
    return Repository(
      top: real, prefix: store.isEmpty ? "" : "\(store)/", gitFolder: real, commonFolder: real, git: git)
  }
}
