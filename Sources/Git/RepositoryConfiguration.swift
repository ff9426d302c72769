internal import FileSystem
internal import Glibc
internal import KeyringModel

/// The settings that are accepted in a repository's own configuration.
///
/// A clone does not transfer any settings, but a copied or synchronized folder does (threats T19 and T42). Many
/// settings of git run programs, and new versions add more, so only those are accepted that are known not to run
/// programs and not to redirect git. Other settings belong in the user's own configuration.
enum RepositoryConfiguration {
  /// Returns true if a setting is accepted.
  ///
  /// - Parameters:
  ///   - key: The name as `git config --list` prints it: in lower case except for the subsection.
  ///   - value: The value.
  static func accepts(_ key: String, _ value: String) -> Bool {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2, let section = parts.first.map(String.init), let name = parts.last.map(String.init)
    else { return false }
    if parts.count == 3, drivers.contains(parts[1]) { return driverSettings.contains("\(section).\(name)") }
    switch key {
    // The value is a Boolean or a program.
    case "core.fsmonitor": return isTruthValue(value)
    // The repository has a work tree, so it is not bare.
    case "core.bare": return isTruthValue(value) && !isTrue(value)
    default: break
    }
    // The values can be commands.
    if section == "pager" { return isTruthValue(value) }
    if section == "submodule" { return !(name == "update" && value.hasPrefix("!")) }
    if let refused = openSections[section] { return !refused.contains(name) }
    if parts.count == 2, let accepted = settings[section] { return accepted.contains(name) }
    if parts.count > 2, let accepted = namedSettings[section] { return accepted.contains(name) }
    return false
  }

  /// The drivers that Keytree itself sets up. ``RepositorySetup`` corrects their commands before a command of the user
  /// runs.
  private static let drivers: Set<Substring> = ["keytree-index", "keytree-item", "keytree-record"]
  private static let driverSettings: Set<String> = [
    "merge.name", "merge.driver", "merge.recursive", "diff.textconv", "diff.cachetextconv",
  ]

  /// The sections in which all settings are accepted except for these names.
  private static let openSections: [String: Set<String>] = [
    "advice": [], "author": [], "blame": [], "branch": ["mergeoptions"], "color": [], "column": [],
    "commit": [], "committer": [], "feature": [], "fetch": ["bundleuri"], "format": [],
    "gc": ["recentobjectshook"], "gui": [], "i18n": [], "index": [], "log": [], "maintenance": [], "pack": [],
    // The name of a merge strategy is part of the name of a program.
    "pull": ["twohead", "octopus"], "push": [], "rebase": [], "rerere": [], "stash": [], "status": [],
    "tag": [],
    "transfer": [], "user": [],
  ]

  /// The accepted settings without a subsection, by section.
  private static let settings: [String: Set<String>] = [
    "core": [
      "abbrev", "autocrlf", "bigfilethreshold", "checkroundtripencoding", "checkstat", "commentchar",
      "commitgraph", "compression", "deltabasecachelimit", "eol", "excludesfile", "filemode",
      "filesreflocktimeout", "fsmonitorhookversion", "fsync", "fsyncmethod", "fsyncobjectfiles",
      "hidedotfiles",
      "ignorecase", "ignorestat", "logallrefupdates", "loosecompression", "maxtreedepth", "multipackindex",
      "packedgitlimit", "packedgitwindowsize", "packedrefstimeout", "precomposeunicode", "prefersymlinkrefs",
      "preloadindex", "protecthfs", "protectntfs", "quotepath", "repositoryformatversion", "safecrlf",
      "sharedrepository", "sparsecheckout", "sparsecheckoutcone", "splitindex", "symlinks", "trustctime",
      "untrackedcache", "warnambiguousrefs", "whitespace",
    ],
    "credential": ["username", "usehttppath"],
    "diff": [
      "algorithm", "autorefreshindex", "colormoved", "colormovedws", "context", "dirstat", "ignoresubmodules",
      "indentheuristic", "interhunkcontext", "mnemonicprefix", "noprefix", "relative", "renamelimit",
      "renames",
      "statgraphwidth", "statnamewidth", "submodule", "suppressblankempty", "wordregex", "wserrorhighlight",
    ],
    "extensions": [
      "compatobjectformat", "noop", "objectformat", "preciousobjects", "refstorage", "relativeworktrees",
    ],
    "gpg": ["format", "mintrustlevel"],
    "http": ["lowspeedlimit", "lowspeedtime", "maxrequests", "postbuffer", "version"],
    "merge": [
      "autostash", "branchdesc", "conflictstyle", "defaulttoupstream", "directoryrenames", "ff", "log",
      "renamelimit", "renames", "renormalize", "stat", "suppressdest", "verbosity", "verifysignatures",
    ],
    "receive": [
      "autogc", "denycurrentbranch", "denydeletes", "denynonfastforwards", "fsckobjects", "unpacklimit",
    ],
    "remote": ["pushdefault"],
  ]

  /// The accepted settings with a subsection, by section.
  private static let namedSettings: [String: Set<String>] = [
    "credential": ["username", "usehttppath"],
    "remote": [
      "fetch", "followremotehead", "gh-resolved", "mirror", "prune", "prunetags", "push", "pushurl",
      "skipdefaultupdate", "skipfetchall", "tagopt", "url",
    ],
  ]

  private static func isTrue(_ value: String) -> Bool {
    // Git lists a setting without a value as one with an empty value, and treats it as true.
    ["", "true", "yes", "on", "1"].contains(value.lowercased())
  }

  private static func isTruthValue(_ value: String) -> Bool {
    isTrue(value) || ["false", "no", "off", "0"].contains(value.lowercased())
  }
}

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
  /// - Throws: `specialFiles` if an entry is neither a file nor a folder; `unsafeConfiguration` with the names of the
  ///   settings; the errors of `Git.run`.
  static func checkConfiguration(
    top: String, prefix: String, gitFolder: String, commonFolder: String, git: Git
  ) throws {
    var special = Set([gitFolder, commonFolder]).reduce(into: Set()) { $0.formUnion(specialFiles(of: $1)) }
    special.formUnion(specialSettings(in: top, below: prefix))
    guard special.isEmpty else { throw GitError.specialFiles(paths: special.sorted()) }
    // This file is only used with `extensions.worktreeConfig`, and Keytree does not need it.
    if exists("\(gitFolder)/config.worktree") {
      throw GitError.unsafeConfiguration(keys: [".git/config.worktree"])
    }
    guard exists("\(commonFolder)/config") else { return }
    // Runs outside the repository, so that git only lists this file, without its includes, and does not apply its
    // settings.
    var outside = git
    (outside.folder, outside.isInWorkTree) = ("/", false)
    let settings = try outside.records(
      ["config", "--file", "\(commonFolder)/config", "--no-includes", "--list", "-z"])
    var found: Set<String> = []
    for setting in settings {
      let parts = setting.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      guard let key = parts.first else { continue }
      if !RepositoryConfiguration.accepts(key, parts.count > 1 ? parts[1] : "") { found.insert(key) }
    }
    guard found.isEmpty else { throw GitError.unsafeConfiguration(keys: found.sorted()) }
  }

  /// The folders of a repository that git neither reads nor writes in the commands that Keytree runs.
  private static let unusedFolders: Set<String> = ["annex", "hooks", "lfs", "modules", "rr-cache"]

  /// Returns some of the entries that are neither files nor folders. Git would block on a pipe, and would write through
  /// a link to a file outside the repository.
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
        default: found.insert(".git/\(String(decoding: folder + entry.name, as: UTF8.self))")
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
}
