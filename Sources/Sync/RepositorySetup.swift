internal import Glibc
internal import Keyring
internal import Subprocess

/// What a clone needs to handle a store well: attributes that nothing pushed can overrule, and the programs that merge
/// and show what is in it.
package struct RepositorySetup {
  private let repository: Repository
  private let settings: [(key: String, value: String)]

  /// The set-up of a repository.
  ///
  /// - Parameters:
  ///   - repository: The clone.
  ///   - program: The absolute path of keytree.
  ///   - searchPath: Where git will look for it: it is called by its name where that leads to the same file.
  package init(_ repository: Repository, program: String, searchPath: String) {
    self.repository = repository
    let found = ProgramSearch.path(of: "keytree", in: searchPath).flatMap(Repository.realPath)
    let isKnown = found != nil && found == Repository.realPath(program)
    let command = isKnown ? "keytree" : Self.quoted(program)
    // Git replaces what begins with a percent sign in the command of a merge driver.
    let driver = command.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    var settings: [(String, String)] = []
    for kind in ["index", "item", "record"] {
      settings += [
        ("merge.keytree-\(kind).name", "keytree \(kind)"),
        ("merge.keytree-\(kind).driver", "\(driver) merge-driver \(kind) %O %A %B %P"),
        ("diff.keytree-\(kind).textconv", "\(command) textconv \(kind)"),
        ("diff.keytree-\(kind).cachetextconv", "false"),
      ]
    }
    // Two items that look alike are not one item that was renamed. In a larger repository that is not for us to say.
    if repository.prefix.isEmpty { settings.append(("merge.renames", "false")) }
    self.settings = settings
  }

  /// Puts in place what is missing.
  ///
  /// - Returns: Whether anything was.
  /// - Throws: `git`, or `keyring` with a file error: `info/attributes` may be a link.
  @discardableResult
  package func apply() throws(SyncError) -> Bool {
    let wroteAttributes = try repository.protectFiles()
    let configured: Bool
    do {
      configured = try configure()
    } catch {
      throw .git(error)
    }
    return wroteAttributes || configured
  }

  private func configure() throws(GitError) -> Bool {
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
    var hasChanged = false
    for (key, value) in settings where known[key] != [value] {
      try git.run(["config", "--local", "--replace-all", key, value])
      hasChanged = true
    }
    for key in ["index", "item", "record"].map({ "merge.keytree-\($0).recursive" }) where known[key] != nil {
      try git.run(["config", "--local", "--unset-all", key])
      hasChanged = true
    }
    return hasChanged
  }

  /// A word for `sh`.
  static func quoted(_ word: String) -> String {
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}

extension Repository {
  /// Puts our attributes in place, where they are missing. Without them git could run filters that somebody has put
  /// there whenever it writes its index: it looks again at files that have changed in the same moment.
  ///
  /// - Returns: Whether they were missing.
  /// - Throws: `keyring` with a file error: `info/attributes` may be a link.
  func protectFiles() throws(SyncError) -> Bool {
    let path = "info/attributes"
    do throws(FileError) {
      let tree = try FileTree(at: commonFolder)
      let old = String(decoding: try tree.read(path, limit: 1 << 20) ?? [], as: UTF8.self)
      let new = AttributeBlock(prefix: prefix).put(into: old)
      if new == old { return false }
      try tree.replaceFile(path, with: Array(new.utf8), temporary: "\(path).keytree")
      return true
    } catch {
      throw .keyring(.file(error))
    }
  }

  /// Makes a repository in a store's folder.
  ///
  /// - Parameters:
  ///   - store: The folder.
  ///   - git: Git.
  /// - Throws: as `Git.run`.
  package static func make(in store: String, git: Git) throws(GitError) {
    var git = git
    (git.folder, git.isInWorkTree) = (store, false)
    let question = ["config", "--get", "init.defaultBranch"]
    let outcome = try git.outcome(of: question)
    let name = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first
    let branch = outcome.ending == .exited(status: 0) ? name.map(String.init) ?? "main" : "main"
    // Templates bring hooks.
    try git.run(["init", "--quiet", "--template=", "--initial-branch=\(branch)"])
  }

  /// Notes the policy as a file to come, which makes the repository the store's.
  ///
  /// - Throws: as `Git.run`.
  package func beginStore() throws(GitError) {
    try git.run(["add", "--intent-to-add", "--force", "--", "\(prefix)\(StoreLayout.policy)"])
  }

  /// Whether somebody has said that git shall not see the store.
  ///
  /// - Throws: as `Git.run`.
  package func ignoresStore() throws(GitError) -> Bool {
    // The form that no path of ours has on its own keeps a colon at the beginning from being magic.
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
