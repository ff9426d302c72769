internal import CSystem
package import Encoding
internal import FileSystem
internal import Glibc
internal import KeyringModel
internal import Subprocess

/// The git repository that contains a store's history.
package struct Repository: Sendable {
  /// The top of the work tree, without links.
  package let top: String
  /// The path of the store in the repository: empty for the top, otherwise with a `/` at the end.
  package let prefix: String
  /// The `.git` folder of this work tree.
  package let gitFolder: String
  /// The repository folder that all work trees share.
  package let commonFolder: String
  /// Git for this repository.
  package let git: Git

  /// Creates the value for a repository whose folders are known.
  ///
  /// - Parameters:
  ///   - top: The top of the work tree, without links.
  ///   - prefix: The path of the store in the repository: empty, or with a `/` at the end.
  ///   - gitFolder: The `.git` folder of this work tree.
  ///   - commonFolder: The repository folder that all work trees share.
  ///   - git: Git for this repository.
  package init(top: String, prefix: String, gitFolder: String, commonFolder: String, git: Git) {
    (self.top, self.prefix, self.git) = (top, prefix, git)
    (self.gitFolder, self.commonFolder) = (gitFolder, commonFolder)
  }

  /// Finds the repository of a store.
  ///
  /// A store uses git if its folder has a repository, or if it is in the work tree of a repository that tracks its
  /// policy or the signature of its policy, which `init` adds before the policy exists. So a store without git is not
  /// affected by a repository that tracks the user's home folder.
  ///
  /// - Parameters:
  ///   - store: The store's folder.
  ///   - makeGit: Creates the git for a folder. Called only if a repository seems to exist.
  /// - Returns: The repository; nil if the store does not use git.
  /// - Throws: The errors of ``around(store:git:)``, and the errors of `Git.run`.
  package static func find(
    store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    guard let found = try around(store: store, git: makeGit) else { return nil }
    if found.prefix.isEmpty { return found }
    let paths = [StoreName.policy, StoreName.policySignature].map { found.prefix + $0 }
    let listed = try found.git.records(["ls-files", "-z", "--cached", "--"] + paths)
    return listed.contains { name in paths.contains { name.elementsEqual($0.utf8) } } ? found : nil
  }

  /// Finds the repository whose work tree contains a store, even if the repository does not track the store.
  ///
  /// - Throws: `notARepository` if `.git` is not a repository; `unsafeFiles` if its folder refers to another one, which only
  ///   a linked work tree may do; `unsafeConfiguration` if its configuration has settings that are not accepted, because it
  ///   may be from the same source as the store (threats T19 and T42); the errors of `Git.run`.
  package static func around(
    store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    guard let found = try unchecked(around: store, git: makeGit) else { return nil }
    try checkConfiguration(
      top: found.top, prefix: found.prefix, gitFolder: found.gitFolder, commonFolder: found.commonFolder,
      git: found.git)
    return found
  }

  /// Finds the repository whose work tree contains a store without running git.
  ///
  /// Git must not run in the result, because the configuration of the repository was not checked.
  ///
  /// - Throws: `notARepository` and `unsafeFiles` as ``around(store:git:)``.
  package static func unchecked(
    around store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    guard let real = RealPath.of(store) else { return nil }
    var top = real
    while !exists("\(top)/.git") {
      if top == "/" { return nil }
      top = Git.parent(of: top)
    }
    let prefix = top == real ? "" : String(real.utf8.dropFirst(top == "/" ? 1 : top.utf8.count + 1)) ?? ""
    let git = makeGit(top)
    guard let folder = try gitFolder(of: top) else { throw GitError.notARepository(path: top) }
    if isFolder("\(top)/.git"), exists("\(folder)/commondir") {
      throw GitError.unsafeFiles(paths: [".git/commondir"])
    }
    let commonFolder = try commonFolder(of: folder)
    let place = prefix.isEmpty ? "" : "\(prefix)/"
    return Repository(
      top: top, prefix: place, gitFolder: folder, commonFolder: commonFolder, git: git)
  }

  /// Finds the repository whose work tree would contain the folder of a new store.
  ///
  /// - Parameter store: The folder, which does not have to exist.
  /// - Throws: The errors of ``around(store:git:)``.
  package static func around(
    newStore store: String, git makeGit: (String) -> Git
  ) throws -> Repository? {
    if RealPath.of(store) != nil { return try around(store: store, git: makeGit) }
    let parts = store.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    guard let name = parts.last, store.utf8.first == UInt8(ascii: "/") else { return nil }
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

  /// True if git may be running in the repository, or an operation was begun and not finished.
  ///
  /// An `index.lock` file can be the only sign of an operation that has just begun.
  package var isBusy: Bool { operation != nil || Self.exists("\(gitFolder)/index.lock") }

  /// The operation that was begun in the repository and not finished.
  package var operation: RepositoryOperation? {
    let signs: [(String, RepositoryOperation)] = [
      ("rebase-merge", .rebase), ("rebase-apply", .rebase), ("MERGE_HEAD", .merge),
      ("CHERRY_PICK_HEAD", .cherryPick), ("REVERT_HEAD", .revert), ("BISECT_LOG", .bisect),
    ]
    return signs.first { Self.exists("\(gitFolder)/\($0.0)") }?.1
  }

  /// Throws an error if another operation is in progress in the repository.
  ///
  /// - Throws: `inProgress`, `locked`.
  package func requireQuiet() throws {
    if let operation { throw GitError.inProgress(operation) }
    let lock = "\(gitFolder)/index.lock"
    if Self.exists(lock) { throw GitError.locked(path: lock) }
  }

  /// Returns the hash function of the repository.
  ///
  /// - Throws: The errors of `Git.run`.
  package func hash() throws -> GitHash {
    let formats = try git.run(["rev-parse", "--show-object-format"])
    let name = String(decoding: formats, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    guard let hash = GitHash(rawValue: name) else { throw GitError.unexpectedOutput(command: "rev-parse") }
    return hash
  }

  /// Throws an error if files of the store are in conflict in git's index. After `git stash pop` and an octopus merge
  /// this is the only sign of a conflict.
  ///
  /// - Throws: `unmerged`, and the errors of `Git.run`.
  package func requireMerged() throws {
    let roots = (StoreName.trackedFiles + StoreName.trackedFolders).map { prefix + $0 }
    let records = try git.records(["ls-files", "-z", "--unmerged", "--"] + roots)
    // `<mode> <name> <stage>`, a tab, and the path, for each side.
    let paths = Set(
      records.compactMap { record in
        record.firstIndex(of: UInt8(ascii: "\t")).map { String(decoding: record[($0 + 1)...], as: UTF8.self) }
      })
    guard paths.isEmpty else { throw GitError.unmerged(paths: paths.sorted()) }
  }

  /// Returns the full name of the commit that is checked out; nil if there is none.
  ///
  /// - Throws: The errors of `Git.run`.
  package func head() throws -> String? {
    try name(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
  }

  /// Returns the name of the branch that is checked out; nil if there is none.
  ///
  /// - Throws: The errors of `Git.run`.
  package func branch() throws -> String? {
    // With `--short`, git would print `heads/NAME` if a tag has the same name.
    guard let reference = try name(["symbolic-ref", "--quiet", "HEAD"]) else { return nil }
    let folder = "refs/heads/"
    return reference.utf8.starts(with: folder.utf8)
      ? String(reference.utf8.dropFirst(folder.utf8.count)) : reference
  }

  /// Returns the first line of a command's output; nil if the command exits with status 1, which means that the object
  /// does not exist.
  private func name(_ arguments: [String]) throws -> String? {
    let outcome = try git.outcome(of: arguments)
    switch outcome.ending {
    case .exited(status: 0):
      return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first.map(String.init)
    case .exited(status: 1): return nil
    default: throw git.failure(arguments, outcome)
    }
  }

  /// The commits at which the history of a shallow clone ends (`gitrepository-layout(5)`).
  package var shallowCommits: Set<String> {
    // If the file cannot be read, git itself fails.
    guard let tree = try? FileTree(at: commonFolder), let bytes = try? tree.read("shallow", limit: 1 << 24)
    else { return [] }
    return Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  // MARK: Files

  /// Returns the repository folder of a work tree: `.git` itself, or the folder that a file of this name refers to.
  ///
  /// - Throws: `unsafeFiles` for a file from which git may read another path.
  private static func gitFolder(of top: String) throws -> String? {
    var facts = stat()
    guard unsafe stat("\(top)/.git", &facts) == 0 else { return nil }
    if facts.st_mode & S_IFMT == S_IFDIR { return RealPath.of("\(top)/.git") }
    guard let content = content(of: ".git", in: top) else { return nil }
    let mark = Array("gitdir: ".utf8)
    guard content.starts(with: mark), let path = path(in: content.dropFirst(mark.count)) else {
      throw GitError.unsafeFiles(paths: [".git"])
    }
    return RealPath.of(absolute(path, from: top))
  }

  private static func commonFolder(of gitFolder: String) throws -> String {
    guard let content = content(of: "commondir", in: gitFolder) else { return gitFolder }
    guard let path = path(in: content[...]) else {
      throw GitError.unsafeFiles(paths: [".git/commondir"])
    }
    guard let folder = RealPath.of(absolute(path, from: gitFolder)) else {
      throw GitError.notARepository(path: gitFolder)
    }
    return folder
  }

  static func absolute(_ path: String, from folder: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : "\(folder)/\(path)"
  }

  /// Returns the path in a file that refers to another folder (gitrepository-layout(5)).
  ///
  /// Git takes all bytes of the file for the path, except for line ends at its end. So a path with other control
  /// characters, or that is not UTF-8, would not be the one that this program checks (threat T42).
  ///
  /// - Returns: The path; nil for any form but one line of text.
  private static func path(in content: ArraySlice<UInt8>) -> String? {
    let line = content.last == UInt8(ascii: "\n") ? content.dropLast() : content
    guard !line.isEmpty, line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return String(validating: line, as: UTF8.self)
  }

  /// Returns the content of a small file; nil if there is none.
  private static func content(of name: String, in folder: String) -> [UInt8]? {
    // A folder whose file cannot be read is not a repository, and git reports that.
    guard let tree = try? FileTree(at: folder) else { return nil }
    return try? tree.read(name, limit: 1 << 16)
  }

  /// Returns true if git accepts folders as a repository. Otherwise it would search further, and might find another one
  /// whose configuration was not checked: in the work tree itself, or above it (threat T42).
  ///
  /// - Parameters:
  ///   - gitFolder: The `.git` folder of a work tree.
  ///   - commonFolder: The repository folder that all work trees share.
  static func isRepository(_ gitFolder: String, _ commonFolder: String) -> Bool {
    guard let head = content(of: "HEAD", in: gitFolder) else { return false }
    let isHex = { (byte: UInt8) in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
    let isCommit = head.prefix(while: isHex).count >= 40
    return (isCommit || head.starts(with: "ref: refs/".utf8))
      && ["objects", "refs"].allSatisfy {
        isFolder("\(commonFolder)/\($0)") && isSearchable("\(commonFolder)/\($0)")
      }
  }

  private static func isSearchable(_ folder: String) -> Bool { unsafe access(folder, X_OK) == 0 }

  /// The path of the running executable (`proc(5)`).
  package static var ownProgram: String? { RealPath.of("/proc/self/exe") }

  /// Returns true if the path is a folder and not a link to one.
  package static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  package static func exists(_ path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0
  }

}
