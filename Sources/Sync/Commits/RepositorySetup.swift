internal import Encoding
internal import FileSystem
internal import Glibc
package import Keyring
internal import OpenPGP
internal import Subprocess

/// The configuration that a clone needs for a store: attributes that no push can override, and the programs that merge
/// and show its files.
package struct RepositorySetup {
  private let program: String
  private let searchPath: String
  private let timeout: Double

  /// Creates a setup.
  ///
  /// - Parameters:
  ///   - program: The absolute path of keytree.
  ///   - searchPath: The search path of git. The settings use the plain name of the program if the search path leads to
  ///     the same file.
  ///   - timeout: The time to wait for another process that changes settings, in seconds.
  package init(program: String, searchPath: String, timeout: Double = 30) {
    (self.program, self.searchPath, self.timeout) = (program, searchPath, timeout)
  }

  private func settings(of repository: Repository) -> [(key: String, value: String)] {
    let found = ProgramSearch.path(of: "keytree", in: searchPath).flatMap(RealPath.of)
    let isKnown = found != nil && found == RealPath.of(program)
    let command = isKnown ? "keytree" : program.shellQuoted
    // Git replaces sequences that start with a percent sign in the command of a merge driver.
    let driver = command.replacing(bytesOf: "%", with: "%%")
    var settings: [(String, String)] = []
    for kind in ["index", "item", "record"] {
      settings += [
        ("merge.keytree-\(kind).name", "keytree \(kind)"),
        ("merge.keytree-\(kind).driver", "\(driver) merge-driver \(kind) %O %A %B %P"),
        ("diff.keytree-\(kind).textconv", "\(command) textconv \(kind)"),
        ("diff.keytree-\(kind).cachetextconv", "false"),
      ]
    }
    // Two items with similar content are not one item that was renamed. If the store is only a part of the repository,
    // the setting is left to the user.
    if repository.prefix.isEmpty { settings.append(("merge.renames", "false")) }
    return settings
  }

  /// Adds the settings that are missing.
  ///
  /// - Parameter repository: The clone.
  /// - Returns: True if anything was missing.
  /// - Throws: `GitError`, or `KeyringError` with `busy` or a file error: `info/attributes` may be a link.
  @discardableResult
  package func apply(to repository: Repository) throws -> Bool {
    let wroteAttributes = try repository.protectFiles()
    if try missing(in: repository).isEmpty { return wroteAttributes }
    let store = try FileTree(at: "\(repository.top)/\(repository.prefix)")
    try GitTurn.take(.synchronization, in: repository, store, timeout: timeout) {
      try configure(repository)
    }
    return true
  }

  /// Creates a repository with this configuration.
  ///
  /// - Parameters:
  ///   - folder: An empty folder, as an absolute path without links.
  ///   - git: Git.
  func make(in folder: String, git: Git) throws {
    try Repository.initialize(folder, git: git)
    let repository = Repository(
      top: folder, prefix: "", gitFolder: "\(folder)/.git", commonFolder: "\(folder)/.git", git: git)
    _ = try repository.protectFiles()
    try configure(repository)
  }

  private func configure(_ repository: Repository) throws {
    for arguments in try missing(in: repository) {
      try repository.git.run(["config", "--local"] + arguments)
    }
  }

  /// Returns the arguments of `git config` that add the missing settings.
  private func missing(in repository: Repository) throws -> [[String]] {
    let git = repository.git
    let question = [
      "config", "--local", "-z", "--get-regexp", "^(merge\\.renames|(merge|diff)\\.keytree-.*)$",
    ]
    let outcome = try git.outcome(of: question)
    guard outcome.ending == .exited(status: 0) || outcome.ending == .exited(status: 1) else {
      throw git.failure(question, outcome)
    }
    var known: [String: [String]] = [:]
    for record in outcome.output.split(separator: 0) {
      let parts = String(decoding: record, as: UTF8.self).split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      known[String(parts[0]), default: []].append(parts.count > 1 ? String(parts[1]) : "")
    }
    let settings = settings(of: repository)
    let outdated = ["index", "item", "record"].map { "merge.keytree-\($0).recursive" }
    return settings.filter { known[$0.key] != [$0.value] }.map { ["--replace-all", $0.key, $0.value] }
      + outdated.filter { known[$0] != nil }.map { ["--unset-all", $0] }
  }
}

extension Repository {
  /// Creates a repository in a store's folder atomically.
  ///
  /// It is created in another folder, flushed to disk and renamed, because git cannot use a partly created repository.
  ///
  /// - Parameters:
  ///   - store: The folder, an absolute path without links.
  ///   - setup: The configuration.
  ///   - git: Creates the git for a folder.
  /// - Throws: `GitError`, or `KeyringError` with a file error.
  package static func make(
    in store: String, _ setup: RepositorySetup, git makeGit: (String) -> Git
  ) throws {
    let name = "\(StoreLayout.work)/repository"
    let folder = "\(store)/\(name)"
    // An earlier attempt may have been cut off.
    FolderRemoval.removeContent(of: folder)
    let tree = try FileTree(at: store)
    try tree.makeDirectory(name)
    try setup.make(in: folder, git: makeGit(folder))
    try tree.synchronizeAll()
    try tree.rename("\(name)/.git", to: ".git")
    try tree.synchronizeDirectory("")
    try tree.removeDirectory(name)
  }

  /// Creates an empty repository.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - git: Git.
  /// - Throws: The errors of `Git.run`.
  static func initialize(_ folder: String, git: Git) throws {
    var git = git
    (git.folder, git.isInWorkTree) = (folder, false)
    let question = ["config", "--get", "init.defaultBranch"]
    let outcome = try git.outcome(of: question)
    guard outcome.ending == .exited(status: 0) || outcome.ending == .exited(status: 1) else {
      throw git.failure(question, outcome)
    }
    let name = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first
    let branch = name.map(String.init) ?? "main"
    // No template, because it could contain hooks.
    try git.run(["init", "--quiet", "--template=", "--initial-branch=\(branch)"])
  }

  /// Adds the signature of the policy to git's index with `--intent-to-add`, which marks the repository as that of the
  /// store. The policy itself may not exist yet.
  ///
  /// - Parameters:
  ///   - store: The folder of the store.
  ///   - timeout: The time to wait for another process, in seconds.
  /// - Throws: `GitError`, or `KeyringError` with `busy` or a file error.
  package func beginStore(_ store: FileTree, timeout: Double) throws {
    try GitTurn.take(.commits, in: self, store, timeout: timeout) {
      try requireQuiet()
      try git.run(
        ["add", "--intent-to-add", "--force", "--", "\(prefix)\(StoreLayout.policySignature)"])
    }
  }

  /// Returns true if the user has configured git to ignore the store.
  ///
  /// - Throws: The errors of `Git.run`.
  package func ignoresStore() throws -> Bool {
    // The leading `./` prevents git from interpreting a colon at the start of the path as pathspec magic.
    let question = ["check-ignore", "--quiet", "--", "./\(prefix)\(StoreLayout.policy)"]
    var git = git
    git.takesPathsLiterally = false
    let outcome = try git.outcome(of: question)
    switch outcome.ending {
    case .exited(status: 0): return true
    case .exited(status: 1): return false
    default: throw git.failure(question, outcome)
    }
  }
}
