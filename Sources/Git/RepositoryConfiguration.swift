/// The settings that are accepted in a repository's own configuration.
///
/// A clone does not transfer any settings, but a copied or synchronized folder does (threats T19 and T42), and so does
/// a remote repository on this machine (T50). Many settings of git run programs, and new versions add more, so only
/// those are accepted that are known not to run programs and not to redirect git. Other settings belong in the user's
/// own configuration.
enum RepositoryConfiguration {
  /// Returns true if a setting is accepted.
  ///
  /// - Parameters:
  ///   - key: The name as `git config --list` prints it: in lower case except for the subsection.
  ///   - value: The value.
  ///   - isRemote: True for the configuration of a remote repository, which can be bare.
  static func accepts(_ key: String, _ value: String, isRemote: Bool = false) -> Bool {
    // Git compares bytes. A dot with a combining character would not be a dot for `String`.
    let parts = key.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(
      Substring.init)
    guard parts.count >= 2, let section = parts.first.map(String.init),
      let name = parts.last.map(String.init),
      [section, name].allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } })
    else { return false }
    if parts.count == 3, drivers.contains(parts[1]) { return driverSettings.contains("\(section).\(name)") }
    // Git passes the names of remotes and branches to commands of its own, which would take such a name for an option.
    if parts.count > 2, parts[1].utf8.first == dash { return false }
    if ["merge", "pushdefault", "pushremote", "remote"].contains(name), value.utf8.first == dash {
      return false
    }
    switch key {
    // The value is a Boolean or a program.
    case "core.fsmonitor": return isTruthValue(value)
    // The repository of a store has a work tree, so it is not bare.
    case "core.bare": return isTruthValue(value) && (isRemote || !isTrue(value))
    default: break
    }
    // The values can be commands.
    if section == "pager" { return isTruthValue(value) }
    if section == "submodule", name == "update" { return updates.contains(value) }
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

  /// The sections in which all settings are accepted except for these names: those that can run programs, and those with
  /// the path of a file, which can be a pipe for which git would wait.
  private static let openSections: [String: Set<String>] = [
    "advice": [], "author": [], "blame": ["ignorerevsfile"], "branch": ["mergeoptions"], "color": [],
    "column": [],
    "commit": ["template"], "committer": [], "feature": [], "fetch": ["bundleuri"],
    "format": ["outputdirectory", "signaturefile"],
    "gc": ["recentobjectshook"], "gui": [], "i18n": [], "index": [], "log": [], "maintenance": [], "pack": [],
    // The name of a merge strategy is part of the name of a program.
    "pull": ["twohead", "octopus"], "push": [], "rebase": [], "rerere": [], "stash": [], "status": [],
    "tag": [],
    "transfer": ["bundleuri"], "user": [],
  ]

  /// The accepted settings without a subsection, by section.
  private static let settings: [String: Set<String>] = [
    "core": [
      "abbrev", "autocrlf", "bigfilethreshold", "checkroundtripencoding", "checkstat", "commentchar",
      "commitgraph", "compression", "deltabasecachelimit", "eol", "filemode",
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
    "http": [
      "getanyfile", "lowspeedlimit", "lowspeedtime", "maxrequests", "postbuffer", "receivepack", "uploadpack",
      "version",
    ],
    "merge": [
      "autostash", "branchdesc", "conflictstyle", "defaulttoupstream", "directoryrenames", "ff", "log",
      "renamelimit", "renames", "renormalize", "stat", "suppressdest", "verbosity", "verifysignatures",
    ],
    "receive": [
      "advertiseatomic", "advertisepushoptions", "autogc", "denycurrentbranch", "denydeletecurrent",
      "denydeletes", "denynonfastforwards", "fsckobjects", "hiderefs", "keepalive", "maxinputsize",
      "shallowupdate", "unpacklimit", "updateserverinfo",
    ],
    "remote": ["pushdefault"],
    "submodule": ["active", "alternateerrorstrategy", "fetchjobs", "propagatebranches", "recurse"],
    "uploadpack": [
      "allowanysha1inwant", "allowfilter", "allowreachablesha1inwant", "allowrefinwant", "allowtipsha1inwant",
      "hiderefs", "keepalive",
    ],
  ]

  /// The accepted settings with a subsection, by section.
  private static let namedSettings: [String: Set<String>] = [
    "credential": ["username", "usehttppath"],
    "remote": [
      "fetch", "followremotehead", "gh-resolved", "mirror", "prune", "prunetags", "push", "pushurl",
      "skipdefaultupdate", "skipfetchall", "tagopt", "url",
    ],
    "submodule": ["active", "branch", "fetchrecursesubmodules", "ignore", "url"],
  ]

  private static let dash = UInt8(ascii: "-")

  /// The ways to update a submodule that are not commands.
  private static let updates: Set<String> = ["checkout", "merge", "none", "rebase"]

  private static func isTrue(_ value: String) -> Bool {
    // Git lists a setting without a value as one with an empty value, and treats it as true.
    ["", "true", "yes", "on", "1"].contains(value.lowercased())
  }

  private static func isTruthValue(_ value: String) -> Bool {
    isTrue(value) || ["false", "no", "off", "0"].contains(value.lowercased())
  }
}
