internal import FileSystem
package import Subprocess

/// The options and variables of every git that Keytree runs: nothing that comes with a repository may start a
/// program, change a byte, or ask a question.
///
/// The variables that steer git are removed, and these options outrank every configuration file. Threats T18 and T19.
package enum GitOptions {
  /// The options before every command, for our own use of git.
  package static let fixed: [String] = ["--no-pager"] + forPerson + settings(own)

  /// Those that also hold where a person uses git, who may be shown pages.
  package static let forPerson: [String] = ["--no-replace-objects"] + settings(safe)

  // What a repository could use to run a program or to change what is stored, and how objects are stored.
  private static let safe: [(String, String)] = [
    ("core.hooksPath", "/dev/null"), ("core.fsmonitor", "false"), ("core.symlinks", "false"),
    ("core.autocrlf", "false"), ("core.safecrlf", "false"), ("core.askPass", ""),
    ("core.sparseCheckout", "false"), ("core.fsync", "all"),
    ("diff.ignoreSubmodules", "all"), ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"), ("fetch.recurseSubmodules", "false"), ("protocol.ext.allow", "never"),
    ("log.showSignature", "false"), ("rerere.enabled", "false"), ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // Git does not hold larger files in memory as a whole. The largest file of a store is a shard of 4 MiB.
    ("core.bigFileThreshold", "8m"),
    // What git receives stays one pack instead of one file for each object. See `Committer.packHistory`.
    ("fastimport.unpackLimit", "0"), ("fetch.unpackLimit", "1"),
  ]

  /// Those that keep git from talking to other machines, which it does even for a look at a commit where a repository
  /// says that objects are to be fetched when they are needed.
  package static let offline = settings(
    [("protocol.allow", "never")]
      + ["file", "git", "ssh", "http", "https"].map { ("protocol.\($0).allow", "never") })

  /// The variables by which git tells a hook where the objects of a push are; `git-receive-pack(1)`.
  package static let quarantine = [
    "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
  ]

  private static let own: [(String, String)] = [
    // A user's commands do not get this setting: git would try to run an empty program. The user's own program may
    // run, and a repository that names one is refused.
    ("diff.external", ""),
    ("core.editor", "true"), ("sequence.editor", "true"), ("core.quotePath", "true"),
    ("core.attributesFile", "/dev/null"), ("commit.gpgSign", "false"), ("tag.gpgSign", "false"),
    ("advice.detachedHead", "false"), ("merge.renames", "false"),
  ]

  private static func settings(_ list: [(String, String)]) -> [String] {
    list.flatMap { ["-c", "\($0)=\($1)"] }
  }

  /// The folders that are searched for programs if `PATH` has no safe folder.
  private static let usualFolders = "/usr/bin:/bin"

  /// The variables for our own use of git.
  ///
  /// - Parameter outer: Those of the person.
  package static func environment(_ outer: ProcessEnvironment) -> ProcessEnvironment {
    var environment = environmentForPerson(outer)
    environment.set("LC_ALL", to: "C")
    environment.set("GIT_TERMINAL_PROMPT", to: "0")
    return environment
  }

  /// The variables where a person uses git: language and prompts stay as they are.
  package static func environmentForPerson(_ outer: ProcessEnvironment) -> ProcessEnvironment {
    var environment = outer
    environment.removeAll(prefix: "GIT_")
    // Git starts ssh, helpers and pagers itself.
    let path = outer.value("PATH").flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    let folders = ProgramSearch.safeFolders(of: path)
    // An empty list would stand for the current folder.
    environment.set("PATH", to: folders.isEmpty ? usualFolders : folders)
    // A file `info/grafts` would change which commits follow each other. Git warns of a file that exists.
    environment.set("GIT_GRAFT_FILE", to: "/dev/null/none")
    return environment
  }
}
