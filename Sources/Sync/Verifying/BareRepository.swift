internal import Keyring
internal import Subprocess

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

  /// Asks git whether it checks the objects of a push: `receive.fsckObjects` or else `transfer.fsckObjects`, of any
  /// configuration file that git reads here; `git-config(1)`.
  ///
  /// - Throws: As `Git.run`.
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
