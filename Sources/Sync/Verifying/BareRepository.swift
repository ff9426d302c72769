internal import FileSystem
internal import Keyring
internal import Subprocess

extension Repository {
  /// Opens a repository without a work tree.
  ///
  /// - Parameters:
  ///   - folder: The folder of the bare repository.
  ///   - store: The folder of the store in the repository, as a path relative to its top; empty for the top.
  ///   - seesQuarantine: True if git sees the quarantined objects of a push, which a hook needs.
  ///   - makeGit: Creates the git for a folder.
  /// - Returns: Nil if the folder is not a bare repository.
  package static func bare(
    _ folder: String, store: String = "", seesQuarantine: Bool = false, git makeGit: (String) -> Git
  ) -> Repository? {
    guard let real = RealPath.of(folder), isFolder("\(real)/objects"), isFolder("\(real)/refs"),
      exists("\(real)/HEAD")
    else { return nil }
    var git = makeGit(real)
    git.isBare = true
    git.seesQuarantine = seesQuarantine
    return Repository(
      top: real, prefix: store.isEmpty ? "" : "\(store)/", gitFolder: real, commonFolder: real, git: git)
  }

  /// Returns true if git checks the objects of a push, according to `receive.fsckObjects` or otherwise
  /// `transfer.fsckObjects` in any configuration file that git reads here (`git-config(1)`).
  ///
  /// - Throws: The errors of `Git.run`.
  func checksReceivedObjects() throws -> Bool {
    for setting in ["receive.fsckObjects", "transfer.fsckObjects"] {
      let arguments = ["config", "--type=bool", "--get", setting]
      let outcome = try git.outcome(of: arguments)
      switch outcome.ending {
      case .exited(status: 0): return outcome.output.starts(with: "true".utf8)
      case .exited(status: 1): continue
      default: throw git.failure(arguments, outcome)
      }
    }
    return false
  }
}
