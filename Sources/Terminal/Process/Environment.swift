internal import CSystem
package import Encoding
internal import Glibc

/// The variables of the process at its start, the folders that they name, and the clock.
///
/// The environment is read only at the start of the program; all other code receives this value. Variables are stored
/// as bytes, so that a child process gets them unchanged.
package struct Environment: Sendable {
  /// Every variable as `NAME=value`.
  package let entries: [[UInt8]]
  /// The state in which the process was started, for `exec`; nil if this is not the environment of the process.
  package var launch: LaunchState?
  /// The current time.
  package var clock: @Sendable () -> Timestamp = Timestamp.now

  /// Creates an environment from entries.
  package init(entries: [[UInt8]]) {
    self.entries = entries
  }

  /// Creates an environment from names and values, for tests.
  package init(_ variables: [String: String]) {
    entries = variables.sorted { $0.key < $1.key }.map { Array(($0.key + "=" + $0.value).utf8) }
  }

  /// Returns the environment of this process; `environ(7)`.
  ///
  /// A service and `env -i` set no `HOME`. It is then the home folder in the password database, as for GnuPG, also for
  /// the programs that are started.
  package static func ofProcess() -> Environment {
    let environment = listed()
    guard environment.bytes("HOME")?.isEmpty ?? true, let entry = unsafe getpwuid(geteuid()),
      let home = unsafe entry.pointee.pw_dir
    else { return environment }
    let name = Array("HOME=".utf8)
    let path = unsafe Array(UnsafeRawBufferPointer(start: home, count: strlen(home)))
    return Environment(entries: environment.entries.filter { !$0.starts(with: name) } + [name + path])
  }

  private static func listed() -> Environment {
    var entries: [[UInt8]] = []
    guard var next = unsafe keytree_environment() else { return Environment(entries: []) }
    while let entry = unsafe next.pointee {
      unsafe entries.append(Array(UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
      unsafe next += 1
    }
    return Environment(entries: entries)
  }

  /// Returns the bytes of a variable, or nil if it is not set.
  package func bytes(_ name: String) -> ArraySlice<UInt8>? {
    let prefix = Array((name + "=").utf8)
    return entries.first { $0.starts(with: prefix) }.map { $0[prefix.count...] }
  }

  /// Returns the text of a variable, or nil if it is not set, empty, or not UTF-8.
  package func text(_ name: String) -> String? {
    guard let bytes = bytes(name), !bytes.isEmpty else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Returns the folder that a variable names, or nil unless it is an absolute path, as the XDG Base Directory
  /// Specification demands.
  private func folder(_ name: String) -> String? {
    text(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// The home folder, `$HOME`.
  package var home: String? { folder("HOME") }

  /// The folder for data, `$XDG_DATA_HOME`, else `~/.local/share`.
  package var dataHome: String? { folder("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" } }

  /// The folder for settings, `$XDG_CONFIG_HOME`, else `~/.config`.
  package var configurationHome: String? { folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" } }

  /// The folder for state, `$XDG_STATE_HOME`, else `~/.local/state`.
  package var stateHome: String? { folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" } }

  /// The folder for data that can be created again, `$XDG_CACHE_HOME`, else `~/.cache`.
  package var cacheHome: String? { folder("XDG_CACHE_HOME") ?? home.map { $0 + "/.cache" } }

  /// The folder for data that ends with the session, `$XDG_RUNTIME_DIR`. It has no fallback here.
  package var runtimeFolder: String? { folder("XDG_RUNTIME_DIR") }

  /// The folder for Keytree's engine homes: in the runtime folder, else in the cache folder.
  package var runtimeBase: String? { (runtimeFolder ?? cacheHome).map { $0 + "/keytree" } }

  /// The user's GnuPG home, `$GNUPGHOME`; nil leaves the choice to GnuPG.
  package var gnupgHome: String? { text("GNUPGHOME") }

  /// The folders in which programs are searched, `$PATH`, else the usual folders of POSIX systems.
  package var searchPath: String { text("PATH") ?? "/usr/local/bin:/usr/bin:/bin" }

  /// The user's editor: `$VISUAL`, else `$EDITOR`, else `vi`, as in POSIX, git and crontab.
  package var editor: String { text("VISUAL") ?? text("EDITOR") ?? "vi" }

  /// The number of threads that encrypt many items, `$KEYTREE_WORKERS`; 0 for one per processor.
  package var workers: Int { text("KEYTREE_WORKERS").flatMap { Int($0) }.map { min(max($0, 0), 64) } ?? 0 }

  /// True if output on a terminal may have colors: `$NO_COLOR` is empty, and `$TERM` is not `dumb`.
  package var allowsColor: Bool { text("NO_COLOR") == nil && (terminalKind ?? "dumb") != "dumb" }

  /// The kind of terminal, `$TERM`.
  package var terminalKind: String? { text("TERM") }
}
