internal import Glibc
internal import Keyring
internal import OpenPGP

/// The settings that the configuration of a repository itself may have.
///
/// A clone brings none, but a copied or synchronized folder does (threats T19 and T42). Many settings of git run
/// programs, and new versions add more, so that only those are accepted that are known to run nothing and to send git
/// nowhere else. Other settings belong in the person's own configuration.
enum RepositoryConfiguration {
  /// Returns true if a setting is accepted.
  ///
  /// - Parameters:
  ///   - key: Its name as `git config --list` prints it: in lower case except for the part in the middle.
  ///   - value: Its value.
  static func accepts(_ key: String, _ value: String) -> Bool {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2, let section = parts.first.map(String.init), let name = parts.last.map(String.init)
    else { return false }
    if parts.count == 3, drivers.contains(parts[1]) { return driverSettings.contains("\(section).\(name)") }
    switch key {
    // These take a truth value, or a program.
    case "core.fsmonitor": return isTruthValue(value)
    // A work tree belongs to the repository; it is not somewhere else.
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

  /// The drivers that Keytree sets up itself; ``RepositorySetup`` corrects their commands before a person uses git.
  private static let drivers: Set<Substring> = ["keytree-index", "keytree-item", "keytree-record"]
  private static let driverSettings: Set<String> = [
    "merge.name", "merge.driver", "merge.recursive", "diff.textconv", "diff.cachetextconv",
  ]

  /// Sections in which everything is accepted except for some names.
  private static let openSections: [String: Set<String>] = [
    "advice": [], "author": [], "blame": [], "branch": ["mergeoptions"], "color": [], "column": [],
    "commit": [], "committer": [], "feature": [], "fetch": ["bundleuri"], "format": [],
    "gc": ["recentobjectshook"], "gui": [], "i18n": [], "index": [], "log": [], "maintenance": [], "pack": [],
    // The names of merge strategies are parts of the names of programs.
    "pull": ["twohead", "octopus"], "push": [], "rebase": [], "rerere": [], "stash": [], "status": [],
    "tag": [],
    "transfer": [], "user": [],
  ]

  /// Accepted settings without a part in the middle, by section.
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

  /// Accepted settings with a part in the middle, by section.
  private static let namedSettings: [String: Set<String>] = [
    "credential": ["username", "usehttppath"],
    "remote": [
      "fetch", "followremotehead", "gh-resolved", "mirror", "prune", "prunetags", "push", "pushurl",
      "skipdefaultupdate", "skipfetchall", "tagopt", "url",
    ],
  ]

  private static func isTrue(_ value: String) -> Bool {
    // Git lists a name without a value as one with nothing in it, and takes it as true.
    ["", "true", "yes", "on", "1"].contains(value.lowercased())
  }

  private static func isTruthValue(_ value: String) -> Bool {
    isTrue(value) || ["false", "no", "off", "0"].contains(value.lowercased())
  }
}

extension Repository {
  /// Refuses a repository whose own configuration has settings that are not accepted, before any other git enters it.
  ///
  /// - Parameters:
  ///   - top: The top of the work tree.
  ///   - prefix: Where the store is in it.
  ///   - gitFolder: The folder of the repository, as its work tree has it.
  ///   - commonFolder: The folder that all its work trees share.
  ///   - git: Git, in any folder.
  /// - Throws: `specialFiles` for what is neither a file nor a folder; `unsafeConfiguration` with the names of the
  ///   settings; as `Git.run`.
  static func checkConfiguration(
    top: String, prefix: String, gitFolder: String, commonFolder: String, git: Git
  ) throws {
    var special = Set([gitFolder, commonFolder]).reduce(into: Set()) { $0.formUnion(specialFiles(of: $1)) }
    special.formUnion(specialSettings(in: top, below: prefix))
    guard special.isEmpty else { throw GitError.specialFiles(paths: special.sorted()) }
    // It counts only with `extensions.worktreeConfig`, but nothing of ours has a reason to read it.
    if exists("\(gitFolder)/config.worktree") {
      throw GitError.unsafeConfiguration(keys: [".git/config.worktree"])
    }
    guard exists("\(commonFolder)/config") else { return }
    // Outside of the repository, so that git reads this file as data, and none that it includes.
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

  /// Folders of a repository that git neither reads nor writes here.
  private static let unusedFolders: Set<String> = ["annex", "hooks", "lfs", "modules", "rr-cache"]

  /// Returns some of the entries that are neither files nor folders: git would block on a pipe, and would
  /// write through a link to a file outside of the repository.
  private static func specialFiles(of repository: String) -> Set<String> {
    var found: Set<String> = []
    var folders: [[UInt8]] = [[]]
    while let folder = folders.popLast(), found.count < 10 {
      let descriptor = unsafe open(
        text(Array("\(repository)/".utf8) + folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      // What cannot be listed is no folder any more, or git says so in its own words.
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      for entry in (try? FolderNames.entries(descriptor)) ?? [] {
        // Most are files, of which there can be many thousands.
        if entry.type == DT_REG { continue }
        if folder.isEmpty, unusedFolders.contains(String(decoding: entry.name, as: UTF8.self)) { continue }
        switch kind(of: entry.name, in: descriptor) {
        // A socket cannot be opened. The monitor of git has one.
        case nil, S_IFREG, S_IFSOCK: continue
        case S_IFDIR: folders.append(folder + entry.name + [UInt8(ascii: "/")])
        default: found.insert(".git/\(String(decoding: folder + entry.name, as: UTF8.self))")
        }
      }
    }
    return found
  }

  /// Files of the work tree with settings that git reads, and waits for, whatever it is asked. It does not follow
  /// links.
  private static func specialSettings(in top: String, below prefix: String) -> [String] {
    let folders = [prefix] + StoreLayout.trackedFolders.map { "\(prefix)\($0)/" }
    let names = folders.flatMap { folder in
      [StoreLayout.gitAttributes, StoreLayout.gitIgnore].map { folder + $0 }
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

  /// A name for the system; names in a repository need not be UTF-8.
  private static func text(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// Refuses other repositories in the index of git. Git would look into their folders, with their own configuration,
  /// whenever it looks at the work tree (threat T43). One that has nothing in its place, as in a clone, does no harm.
  ///
  /// - Parameter folder: Where to look: the store's folder as ``prefix`` has it, or the whole work tree.
  /// - Throws: `nestedRepositories`, and as `Git.run`.
  package func refuseNestedRepositories(below folder: String = "") throws {
    let nested = try indexEntries(below: folder).filter { $0.mode == "160000" }
      .map { String(decoding: $0.path, as: UTF8.self) }.filter { Self.exists("\(top)/\($0)") }
    guard nested.isEmpty else { throw GitError.nestedRepositories(paths: nested.sorted()) }
  }
}
