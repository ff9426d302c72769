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
    ("submodule.recurse", "false"), ("fetch.recurseSubmodules", "false"),
    // Otherwise a fetch runs git in each repository from which this one borrows objects, with its configuration.
    ("core.alternateRefsCommand", "true"),
    // Git does not take a folder without `.git` for a repository unless it is named.
    ("safe.bareRepository", "explicit"),
    ("log.showSignature", "false"), ("rerere.enabled", "false"), ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // Git does not load larger files into memory as a whole. The largest file of a store is a shard of 4 MiB.
    ("core.bigFileThreshold", "8m"),
    // Received objects are kept as one pack instead of one file for each object. See `Committer.packHistory`.
    ("fastimport.unpackLimit", "0"), ("fetch.unpackLimit", "1"),
  ]

  /// Returns the command that git runs in a remote repository on this machine instead of `upload-pack` or
  /// `receive-pack`. Git does not pass its own options on to them, and they must not run the programs that the
  /// repository's own configuration or its hooks name (threats T19 and T50).
  ///
  /// - Parameter name: The name of the command of git.
  package static func remoteProgram(_ name: String) -> String {
    // Versions of git that do not know the second variable would fetch missing objects of a partial clone.
    let variables = ["\(allowedTransports)=", "\(noLazyFetch)=1"]
    return (variables + ["git"] + forPerson + settings([("receive.autogc", "false")]) + [name])
      .joined(separator: " ")
  }

  /// The variable with the only transports that git may use, whatever its configuration says; empty for none.
  private static let allowedTransports = "GIT_ALLOW_PROTOCOL"
  /// The variable with which newer versions of git fetch no missing objects of a partial clone.
  private static let noLazyFetch = "GIT_NO_LAZY_FETCH"

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

  /// Returns the options for settings.
  package static func settings(_ list: [(String, String)]) -> [String] {
    list.flatMap { ["-c", "\($0)=\($1)"] }
  }

  /// The folders in which git searches for programs if `PATH` contains no safe folder.
  private static let usualFolders = "/usr/bin:/bin"

  /// Returns the environment of the commands that Keytree itself runs.
  ///
  /// - Parameters:
  ///   - outer: The environment of the user.
  ///   - connects: True if git may connect to other repositories.
  package static func environment(_ outer: ProcessEnvironment, connects: Bool = false) -> ProcessEnvironment {
    var environment = environmentForPerson(outer, connects: connects)
    environment.set("LC_ALL", to: "C")
    environment.set("GIT_TERMINAL_PROMPT", to: "0")
    return environment
  }

  /// Returns the environment of the user's commands, in which language and prompts are unchanged.
  package static func environmentForPerson(
    _ outer: ProcessEnvironment, connects: Bool
  ) -> ProcessEnvironment {
    var environment = outer
    environment.removeAll(prefix: "GIT_")
    // In a partial clone, even reading a commit can fetch missing objects.
    environment.set(noLazyFetch, to: "1")
    if !connects { environment.set(allowedTransports, to: "") }
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
