internal import FileSystem
package import Subprocess

/// The options and variables of every git command that Keytree runs. With them nothing in a repository can start a
/// program, change the content of files, or prompt the user.
///
/// The variables that control git are removed, and these options override every configuration file. Threats T18 and
/// T19.
package enum GitOptions {
  /// The options before every command that Keytree itself runs.
  package static let fixed: [String] = ["--no-pager"] + forPerson + settings(own)

  /// The options that also apply to commands of the user, for which a pager is allowed.
  package static let forPerson: [String] = ["--no-replace-objects"] + settings(safe)

  // Settings that prevent a repository from running a program or changing the stored content, and settings for the
  // storage of objects.
  private static let safe: [(String, String)] = [
    ("core.hooksPath", "/dev/null"), ("core.fsmonitor", "false"), ("core.symlinks", "false"),
    ("core.autocrlf", "false"), ("core.safecrlf", "false"), ("core.askPass", ""),
    ("core.sparseCheckout", "false"), ("core.fsync", "all"),
    ("diff.ignoreSubmodules", "all"), ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"), ("fetch.recurseSubmodules", "false"), ("protocol.ext.allow", "never"),
    ("log.showSignature", "false"), ("rerere.enabled", "false"), ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // Git does not load larger files into memory as a whole. The largest file of a store is a shard of 4 MiB.
    ("core.bigFileThreshold", "8m"),
    // Received objects are kept as one pack instead of one file for each object. See `Committer.packHistory`.
    ("fastimport.unpackLimit", "0"), ("fetch.unpackLimit", "1"),
  ]

  /// The options that prevent connections to other machines. In a partial clone, even reading a commit can fetch
  /// missing objects.
  package static let offline = settings(
    [("protocol.allow", "never")]
      + ["file", "git", "ssh", "http", "https"].map { ("protocol.\($0).allow", "never") })

  /// The variables with which git passes the location of the objects of a push to a hook (`git-receive-pack(1)`).
  package static let quarantine = [
    "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
  ]

  private static let own: [(String, String)] = [
    // Commands of the user do not get this setting, because git would try to run an empty program. The user's own
    // program may run, and a repository that configures one is refused.
    ("diff.external", ""),
    ("core.editor", "true"), ("sequence.editor", "true"), ("core.quotePath", "true"),
    ("core.attributesFile", "/dev/null"), ("commit.gpgSign", "false"), ("tag.gpgSign", "false"),
    ("advice.detachedHead", "false"), ("merge.renames", "false"),
  ]

  private static func settings(_ list: [(String, String)]) -> [String] {
    list.flatMap { ["-c", "\($0)=\($1)"] }
  }

  /// The folders in which git searches for programs if `PATH` contains no safe folder.
  private static let usualFolders = "/usr/bin:/bin"

  /// Returns the environment of the commands that Keytree itself runs.
  ///
  /// - Parameter outer: The environment of the user.
  package static func environment(_ outer: ProcessEnvironment) -> ProcessEnvironment {
    var environment = environmentForPerson(outer)
    environment.set("LC_ALL", to: "C")
    environment.set("GIT_TERMINAL_PROMPT", to: "0")
    return environment
  }

  /// Returns the environment of the user's commands, in which language and prompts are unchanged.
  package static func environmentForPerson(_ outer: ProcessEnvironment) -> ProcessEnvironment {
    var environment = outer
    environment.removeAll(prefix: "GIT_")
    // Git itself starts ssh, helpers and pagers.
    let path = outer.value("PATH").flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    let folders = ProgramSearch.safeFolders(of: path)
    // An empty list would mean the current folder.
    environment.set("PATH", to: folders.isEmpty ? usualFolders : folders)
    // A file `info/grafts` would change the parents of commits. The path does not exist, because git prints a warning
    // for an existing file.
    environment.set("GIT_GRAFT_FILE", to: "/dev/null/none")
    return environment
  }
}
