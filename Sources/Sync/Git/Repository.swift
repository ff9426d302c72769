internal import CSystem
internal import Glibc
internal import Keyring
internal import Subprocess

/// The repository that keeps a store's history.
package struct Repository: Sendable {
  /// The top of its work tree, without links.
  package let top: String
  /// The path of the store in the repository: empty for the top, otherwise ending with `/`.
  package let prefix: String
  /// The folder of the repository, as this work tree has it.
  package let gitFolder: String
  /// The folder that all work trees of it share.
  package let commonFolder: String
  /// Git in it.
  package let git: Git

  /// Looks for the repository of a store.
  ///
  /// A store uses git when its folder has a repository, or lies in the work tree of one that has its policy or the
  /// signature of its policy, which `init` notes before there is a policy. So a
  /// store without git in somebody's home folder, which is kept in git, stays without.
  ///
  /// - Parameters:
  ///   - store: The store's folder.
  ///   - makeGit: Git in a folder; called only when there is something like a repository.
  /// - Returns: nil when the store uses none.
  /// - Throws: As ``around(store:git:)``, and as `Git.run`.
  package static func find(
    store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    guard let found = try around(store: store, git: makeGit) else { return nil }
    if found.prefix.isEmpty { return found }
    let paths = [StoreLayout.policy, StoreLayout.policySignature].map { found.prefix + $0 }
    let listed = try found.git.records(["ls-files", "-z", "--cached", "--"] + paths)
    return listed.contains { name in paths.contains { name.elementsEqual($0.utf8) } } ? found : nil
  }

  /// Looks for a repository in whose work tree a store lies, whether it has the store in it or not.
  ///
  /// - Throws: `notARepository` when what is found is none; `unsafeConfiguration` when its folder leads to another one,
  ///   as only that of a further work tree does, or when its configuration has settings that are not accepted: it may
  ///   have come with the store (threats T19 and T42); as `Git.run`.
  package static func around(
    store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    guard let real = realPath(store) else { return nil }
    var top = real
    while !exists("\(top)/.git") {
      if top == "/" { return nil }
      top = Git.parent(of: top)
    }
    let prefix = top == real ? "" : String(real.utf8.dropFirst(top == "/" ? 1 : top.utf8.count + 1)) ?? ""
    let git = makeGit(top)
    guard let folder = try gitFolder(of: top) else { throw GitError.notARepository(path: top) }
    if isFolder("\(top)/.git"), exists("\(folder)/commondir") {
      throw GitError.unsafeConfiguration(keys: [".git/commondir"])
    }
    let commonFolder = try commonFolder(of: folder)
    let place = prefix.isEmpty ? "" : "\(prefix)/"
    try checkConfiguration(
      top: top, prefix: place, gitFolder: folder, commonFolder: commonFolder, git: git)
    return Repository(
      top: top, prefix: place, gitFolder: folder, commonFolder: commonFolder, git: git)
  }

  /// Looks for a repository in whose work tree the folder of a new store would lie.
  ///
  /// - Parameter store: The folder, which need not exist.
  /// - Throws: As ``around(store:git:)``.
  package static func around(
    newStore store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    if realPath(store) != nil { return try around(store: store, git: makeGit) }
    let parts = store.split(separator: "/")
    guard let name = parts.last, store.hasPrefix("/") else { return nil }
    let parent = "/" + parts.dropLast().joined(separator: "/")
    guard parent != "/", let found = try around(newStore: parent, git: makeGit) else { return nil }
    return Repository(
      top: found.top, prefix: "\(found.prefix)\(name)/", gitFolder: found.gitFolder,
      commonFolder: found.commonFolder, git: found.git)
  }

  /// The device and inode of the repository, which distinguish it from another one at the same path.
  package var identity: String {
    var facts = stat()
    guard unsafe stat(commonFolder, &facts) == 0 else { return "unknown" }
    return "\(facts.st_dev)-\(facts.st_ino)"
  }

  /// A Boolean value that indicates whether git may be running in the repository, or an operation was begun
  /// and not finished.
  ///
  /// While git writes its index it may be in the middle of one, and there is no other sign of it yet.
  package var isBusy: Bool { operation != nil || Self.exists("\(gitFolder)/index.lock") }

  /// The operation that was begun in the repository and not finished.
  package var operation: RepositoryOperation? {
    let signs: [(String, RepositoryOperation)] = [
      ("rebase-merge", .rebase), ("rebase-apply", .rebase), ("MERGE_HEAD", .merge),
      ("CHERRY_PICK_HEAD", .cherryPick), ("REVERT_HEAD", .revert), ("BISECT_LOG", .bisect),
    ]
    return signs.first { Self.exists("\(gitFolder)/\($0.0)") }?.1
  }

  /// Refuses to commit while something else goes on in the repository.
  ///
  /// - Throws: `inProgress`, `locked`.
  package func requireQuiet() throws {
    if let operation { throw GitError.inProgress(operation) }
    let lock = "\(gitFolder)/index.lock"
    if Self.exists(lock) { throw GitError.locked(path: lock) }
  }

  /// Returns the hash function of the repository.
  ///
  /// - Throws: as `Git.run`.
  func hash() throws -> GitHash {
    let formats = try git.run(["rev-parse", "--show-object-format"])
    let name = String(decoding: formats, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    guard let hash = GitHash(rawValue: name) else { throw GitError.unexpectedOutput(command: "rev-parse") }
    return hash
  }

  /// Refuses to go on while files of the store are in conflict in git's index: `git stash pop` and an octopus merge
  /// leave no other sign.
  ///
  /// - Throws: `unmerged`, and as `Git.run`.
  package func requireMerged() throws {
    let roots = StoreFiles.roots(below: prefix)
    let records = try git.records(["ls-files", "-z", "--unmerged", "--"] + roots)
    // `<mode> <name> <stage>`, a tab, and the path, for each side.
    let paths = Set(
      records.compactMap { record in
        record.firstIndex(of: UInt8(ascii: "\t")).map { String(decoding: record[($0 + 1)...], as: UTF8.self) }
      })
    guard paths.isEmpty else { throw GitError.unmerged(paths: paths.sorted()) }
  }

  /// The full name of the commit that is checked out; nil if there is none.
  ///
  /// - Throws: as `Git.run`.
  package func head() throws -> String? {
    try name(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
  }

  /// The name of the branch that is checked out; nil when there is none.
  ///
  /// - Throws: as `Git.run`.
  package func branch() throws -> String? {
    try name(["symbolic-ref", "--quiet", "--short", "HEAD"])
  }

  /// The first line of a command's output; nil if the command ends with 1, which says that there is no such thing.
  private func name(_ arguments: [String]) throws -> String? {
    let outcome = try git.outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0):
      return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first.map(String.init)
    case .exited(status: 1): return nil
    default: throw git.failure(arguments, outcome)
    }
  }

  /// The commits at which the history of a clone ends that has only a part of it; `gitrepository-layout(5)`.
  var shallowCommits: Set<String> {
    // Where it cannot be read, git fails itself.
    guard let tree = try? FileTree(at: commonFolder), let bytes = try? tree.read("shallow", limit: 1 << 24)
    else { return [] }
    return Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  // MARK: Files

  /// The folder of the repository of a work tree: `.git` itself, or what a file of that name leads to.
  private static func gitFolder(of top: String) throws -> String? {
    var facts = stat()
    guard unsafe stat("\(top)/.git", &facts) == 0 else { return nil }
    if facts.st_mode & S_IFMT == S_IFDIR { return realPath("\(top)/.git") }
    guard let text = line(of: "\(top)/.git"), text.hasPrefix("gitdir: ") else { return nil }
    return realPath(absolute(String(text.dropFirst("gitdir: ".count)), from: top))
  }

  private static func commonFolder(of gitFolder: String) throws -> String {
    guard let text = line(of: "\(gitFolder)/commondir") else { return gitFolder }
    guard let folder = realPath(absolute(text, from: gitFolder)) else {
      throw GitError.notARepository(path: gitFolder)
    }
    return folder
  }

  private static func absolute(_ path: String, from folder: String) -> String {
    path.hasPrefix("/") ? path : "\(folder)/\(path)"
  }

  /// The first line of a small file; nil when there is none.
  private static func line(of path: String) -> String? {
    // What cannot be read is no repository, and git says so in its own words.
    guard let tree = try? FileTree(at: Git.parent(of: path)),
      let name = path.split(separator: "/").last,
      let bytes = try? tree.read(String(name), limit: 1 << 16)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }

  /// The file of the program that runs; `proc(5)`.
  package static var ownProgram: String? { realPath("/proc/self/exe") }

  /// Returns true if the path is a folder, not a link to one.
  static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  static func exists(_ path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0
  }

  /// The path without links; `realpath(3)`. nil when nothing is there.
  package static func realPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
