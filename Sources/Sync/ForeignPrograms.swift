/// Settings of a repository that run programs.
///
/// A clone brings none of them, a copied or synchronized folder does (threat T19). What the person wants belongs into
/// her own configuration.
enum ForeignPrograms {
  /// Whether a setting in the configuration of a repository runs a program, or sends git elsewhere.
  ///
  /// - Parameters:
  ///   - key: Its name as `git config --list` prints it: in lower case but for the part in the middle.
  ///   - value: Its value.
  static func includes(_ key: String, _ value: String) -> Bool {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    guard let section = parts.first, let name = parts.last, parts.count >= 2 else { return false }
    let isOurs = parts.count == 3 && ["keytree-index", "keytree-item", "keytree-record"].contains(parts[1])
    if alone.contains(key) || all.contains(String(section)) { return true }
    if key == "core.fsmonitor" || section == "pager" { return !isTruthValue(value) }
    // Also one without `!`: several commands of git run what their options name.
    if section == "alias" { return true }
    if section == "submodule", name == "update" { return value.hasPrefix("!") }
    // Set by ourselves, and put right before they are used.
    if isOurs, section == "merge" || section == "diff" { return name == "command" }
    return below[String(section)]?.contains(String(name)) ?? false
  }

  private static let alone: Set<String> = [
    "core.sshcommand", "core.gitproxy", "core.askpass", "core.editor", "core.pager", "core.hookspath",
    "core.alternaterefscommand", "core.gitcatfile", "sequence.editor", "diff.external", "diff.tool",
    "merge.tool",
    "interactive.difffilter", "gpg.program", "gc.recentobjectshook", "uploadpack.packobjectshook",
    "credential.helper", "init.templatedir", "help.browser", "web.browser", "man.viewer", "imap.tunnel",
  ]

  // Sections every setting of which is one.
  private static let all: Set<String> = [
    "url", "include", "includeif", "filter", "difftool", "mergetool", "browser", "man", "hook", "sendemail",
    "guitool", "instaweb",
  ]

  // The last part of a name, by section.
  private static let below: [String: Set<String>] = [
    "credential": ["helper"], "remote": ["uploadpack", "receivepack", "vcs", "proxy"],
    "gpg": ["program", "defaultkeycommand"], "merge": ["driver"], "diff": ["command", "textconv"],
    "trailer": ["command", "cmd"], "tar": ["command"],
    "http": [
      "proxy", "sslverify", "sslcainfo", "sslcapath", "extraheader", "cookiefile",
    ], "fetch": ["bundleuri"],
  ]

  private static func isTruthValue(_ value: String) -> Bool {
    ["", "true", "false", "yes", "no", "on", "off", "0", "1"].contains(value.lowercased())
  }
}

extension Git {
  /// Refuses a repository whose own configuration runs programs; to be called before git talks to another machine, and
  /// before it is handed to a person.
  ///
  /// - Throws: `unsafeConfiguration` with the names of the settings, and as `run`.
  package func refuseForeignPrograms() throws(GitError) {
    let fields = try run(["config", "--list", "--show-scope", "--show-origin", "-z"]).split(
      separator: 0, omittingEmptySubsequences: false)
    var found: Set<String> = []
    var position = 0
    // Scope, origin, and the setting with its name and value in two lines.
    while position + 2 < fields.count {
      let scope = String(decoding: fields[position], as: UTF8.self)
      let setting = String(decoding: fields[position + 2], as: UTF8.self)
      position += 3
      guard scope == "local" || scope == "worktree" else { continue }
      let parts = setting.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : ""
      if ForeignPrograms.includes(String(parts[0]), value) { found.insert(String(parts[0])) }
    }
    guard found.isEmpty else { throw .unsafeConfiguration(keys: found.sorted()) }
  }
}
