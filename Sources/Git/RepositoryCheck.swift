internal import FileSystem
internal import Glibc
internal import KeyringModel

extension Repository {
  /// Throws an error if the repository's own configuration has settings that are not accepted. Must be called before
  /// any other git command runs in the repository.
  ///
  /// - Parameters:
  ///   - top: The top of the work tree.
  ///   - prefix: The path of the store in the work tree.
  ///   - gitFolder: The `.git` folder of the work tree.
  ///   - commonFolder: The repository folder that all work trees share.
  ///   - git: Git for any folder.
  /// - Throws: `specialFiles` if an entry is neither a file nor a folder; `unsafeFiles` if files in the old form configure
  ///   remotes or one work tree; `unsafeConfiguration` with the names of the settings; the errors of `Git.run`.
  static func checkConfiguration(
    top: String, prefix: String, gitFolder: String, commonFolder: String, git: Git
  ) throws {
    var special = Set([gitFolder, commonFolder]).reduce(into: Set()) { found, folder in
      found.formUnion(specialFiles(of: folder).map { ".git/\($0)" })
    }
    special.formUnion(specialSettings(in: top, below: prefix))
    guard special.isEmpty else { throw GitError.specialFiles(paths: special.sorted()) }
    guard isRepository(gitFolder, commonFolder) else { throw GitError.notARepository(path: top) }
    // The configuration of one work tree is only used with `extensions.worktreeConfig`, and Keytree does not need it.
    let files = ["config.worktree"].filter { exists("\(gitFolder)/\($0)") } + oldRemotes(in: commonFolder)
    guard files.isEmpty else { throw GitError.unsafeFiles(paths: files.map { ".git/\($0)" }) }
    let found = try refusedSettings(of: commonFolder, workTree: top, git)
    guard found.isEmpty else { throw GitError.unsafeConfiguration(keys: found) }
  }

  /// Throws an error if a repository on this machine, with which git exchanges commits, could make git run programs or
  /// read other repositories. Git enters it with its own configuration, which may be from the same source as the store
  /// (threat T50). It must be called directly before git connects to the repository.
  ///
  /// A repository can change between this check and its use. So the commands that git runs there may not connect to
  /// others, and get the options of `GitOptions.remoteProgram`, too.
  ///
  /// - Parameters:
  ///   - path: The path in the address of the repository. Nothing is checked if it does not exist.
  ///   - allowsHooks: False if git would run the hooks of the repository.
  ///   - git: Git for any folder.
  /// - Throws: `unsafeRemote`; the errors of `Git.run`.
  package static func requireSafeRemote(at path: String, allowsHooks: Bool, _ git: Git) throws {
    // Git removes slashes from the end, and uses the first of these that is a repository (`enter_repo` in git). All are
    // checked, so that the result does not depend on the order.
    let start = String(
      decoding: path.utf8.reversed().drop { $0 == UInt8(ascii: "/") }.reversed(), as: UTF8.self)
    for suffix in ["/.git", "", ".git/.git", ".git"] {
      guard let real = RealPath.of(start + suffix) else { continue }
      var found: [String] = []
      if isFolder(real) {
        guard exists("\(real)/HEAD") else { continue }
        found = specialFiles(of: real).sorted()
        if found.isEmpty {
          found = linkingFiles.filter { exists("\(real)/\($0)") } + oldRemotes(in: real)
          if !allowsHooks { found += activeHooks(in: real) }
          found += try refusedSettings(of: real, workTree: nil, git)
        }
      } else if !isBundle(real) {
        found = ["gitdir"]
      }
      guard found.isEmpty else { throw GitError.unsafeRemote(path: real, entries: found) }
    }
  }

  /// Returns true if a file is a bundle, which contains commits and no configuration (gitformat-bundle(5)). Any other
  /// file is for git the place of the name of another repository (gitrepository-layout(5)).
  private static func isBundle(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var start = [UInt8](repeating: 0, count: 15)
    let count = unsafe read(file, &start, start.count)
    return count == start.count
      && ["# v2 git bundle", "# v3 git bundle"].contains { start == Array($0.utf8) }
  }

  /// The files that make git read other repositories or another configuration.
  private static let linkingFiles = [
    "commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates",
  ]

  /// Returns the files that configure remotes in the way of old versions of git, which also newer ones read.
  private static func oldRemotes(in repository: String) -> [String] {
    ["branches", "remotes"].flatMap { folder in
      FolderNames.text(at: "\(repository)/\(folder)").map { "\(folder)/\($0)" }
    }.sorted()
  }

  /// Returns the hooks that git would run.
  private static func activeHooks(in repository: String) -> [String] {
    let folder = "\(repository)/hooks"
    if exists(folder), !isFolder(folder) { return ["hooks"] }
    return FolderNames.text(at: folder).map { "hooks/\($0)" }.filter { name in
      unsafe !name.utf8.reversed().starts(with: ".sample".utf8.reversed())
        && access("\(repository)/\(name)", X_OK) == 0
    }.sorted()
  }

  /// Returns the names of the settings in a repository's configuration that are not accepted.
  ///
  /// - Parameters:
  ///   - repository: The folder of the repository.
  ///   - workTree: The top of the work tree that contains the store; nil for a remote repository.
  private static func refusedSettings(
    of repository: String, workTree: String?, _ git: Git
  ) throws -> [String] {
    guard exists("\(repository)/config") else { return [] }
    let found = try settings(in: "\(repository)/config", git).filter { key, value in
      // Git sets it in the repository of a submodule. Another folder would be that of other files.
      if key == "core.worktree", let workTree {
        return RealPath.of(absolute(value, from: repository)) != workTree
      }
      return !RepositoryConfiguration.accepts(key, value, isRemote: workTree == nil)
    }
    return Set(found.map(\.key)).sorted()
  }

  /// Returns the settings in a file of git's format, without those of the files that it includes.
  static func settings(in file: String, _ git: Git) throws -> [(key: String, value: String)] {
    // Runs outside the repository, so that git only lists this file and does not apply its settings.
    var outside = git
    (outside.folder, outside.isInWorkTree) = ("/", false)
    let settings = try outside.records(["config", "--file", file, "--no-includes", "--list", "-z"])
    return settings.map { setting in
      let parts = setting.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
  }

  /// The folders of a repository that git neither reads nor writes in the commands that Keytree runs.
  private static let unusedFolders: Set<String> = ["annex", "hooks", "lfs", "modules", "rr-cache"]

  /// Returns some of the entries of a repository's folder that are neither files nor folders. Git would block on a pipe,
  /// and would write through a link to a file outside the repository.
  private static func specialFiles(of repository: String) -> Set<String> {
    var found: Set<String> = []
    var folders: [[UInt8]] = [[]]
    while let folder = folders.popLast(), found.count < 10 {
      let descriptor = unsafe open(
        text(Array("\(repository)/".utf8) + folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      // If a folder cannot be listed, it no longer exists, or git reports the error.
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      for entry in (try? FolderNames.entries(descriptor)) ?? [] {
        // Most entries are files, possibly many thousands, so they are skipped without `stat(2)`.
        if entry.type == DT_REG { continue }
        if folder.isEmpty, unusedFolders.contains(String(decoding: entry.name, as: UTF8.self)) { continue }
        switch kind(of: entry.name, in: descriptor) {
        // A socket cannot be opened as a file, and git's file system monitor creates one.
        case nil, S_IFREG, S_IFSOCK: continue
        case S_IFDIR: folders.append(folder + entry.name + [UInt8(ascii: "/")])
        default: found.insert(String(decoding: folder + entry.name, as: UTF8.self))
        }
      }
    }
    return found
  }

  /// Returns the attributes and ignore files of the work tree that are pipes or devices. Git reads these files in most
  /// commands, and would block. It does not follow links there.
  private static func specialSettings(in top: String, below prefix: String) -> [String] {
    let folders = [prefix] + StoreName.trackedFolders.map { "\(prefix)\($0)/" }
    let names = folders.flatMap { folder in
      [StoreName.gitAttributes, StoreName.gitIgnore].map { folder + $0 }
    }
    return names.filter { name in
      guard let kind = kind(of: Array("\(top)/\(name)".utf8), in: AT_FDCWD) else { return false }
      return [S_IFIFO, S_IFCHR, S_IFBLK].contains(kind)
    }
  }

  /// Returns the file type of a name in a folder, as in `stat(2)`; nil if it does not exist.
  private static func kind(of name: [UInt8], in folder: Int32) -> mode_t? {
    var facts = stat()
    guard unsafe fstatat(folder, text(name), &facts, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return facts.st_mode & S_IFMT
  }

  /// Returns a name as a C string, because names in a repository need not be UTF-8.
  private static func text(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// Throws an error if git's index contains other repositories. Git would enter their folders, with their own
  /// configuration, whenever it reads the work tree (threat T43). A submodule without a folder, as in a clone, does no
  /// harm.
  ///
  /// - Parameter folder: The folder to check: that of the store (``prefix``), or empty for the whole work tree.
  /// - Throws: `nestedRepositories`, and the errors of `Git.run`.
  package func refuseNestedRepositories(below folder: String = "") throws {
    let nested = try indexEntries(below: folder).filter { $0.mode == "160000" }
      .map { String(decoding: $0.path, as: UTF8.self) }.filter { Self.exists("\(top)/\($0)") }
    guard nested.isEmpty else { throw GitError.nestedRepositories(paths: nested.sorted()) }
  }

  /// Throws an error if the repository folder contains repositories of submodules. Commands of the user could enter them,
  /// with their own configuration, which is not checked (threat T43).
  ///
  /// - Throws: `unsafeFiles`.
  package func refuseSubmoduleRepositories() throws {
    let folders = Set([gitFolder, commonFolder]).map { "\($0)/modules" }
    guard !folders.contains(where: Self.exists) else {
      throw GitError.unsafeFiles(paths: [".git/modules"])
    }
  }
}
