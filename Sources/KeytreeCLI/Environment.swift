internal import CSystem
package import Encoding
internal import Glibc
internal import KeyringModel

/// The variables of the process as they were at its start, the places they name, and the clock.
///
/// Nothing below the program's first line reads the environment: it gets this value. Variables are kept as
/// bytes, because a child gets them exactly as they came.
package struct Environment: Sendable {
  /// Every variable as `NAME=value`.
  package let entries: [[UInt8]]
  /// What the process was started with, for a program that takes its place; nil where this is no process's own.
  package var launch: LaunchState?
  /// The current time.
  package var clock: @Sendable () -> Timestamp = SystemClock.now

  /// An environment of the given entries.
  package init(entries: [[UInt8]]) {
    self.entries = entries
  }

  /// An environment of names and values, for tests.
  package init(_ variables: [String: String]) {
    entries = variables.sorted { $0.key < $1.key }.map { Array(($0.key + "=" + $0.value).utf8) }
  }

  /// The environment of this process; `environ(7)`.
  package static func ofProcess() -> Environment {
    var entries: [[UInt8]] = []
    guard var next = unsafe keytree_environment() else { return Environment(entries: []) }
    while let entry = unsafe next.pointee {
      unsafe entries.append(Array(UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
      unsafe next += 1
    }
    return Environment(entries: entries)
  }

  /// The bytes of a variable, or nil when it is not set.
  package func bytes(_ name: String) -> ArraySlice<UInt8>? {
    let prefix = Array((name + "=").utf8)
    return entries.first { $0.starts(with: prefix) }.map { $0[prefix.count...] }
  }

  /// The text of a variable; nil when it is not set, empty, or not UTF-8.
  package func text(_ name: String) -> String? {
    guard let bytes = bytes(name), !bytes.isEmpty else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The folder a variable names; nil unless it is an absolute path, as the XDG Base Directory
  /// Specification demands of its variables.
  private func folder(_ name: String) -> String? {
    text(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// The home folder, `$HOME`.
  package var home: String? { folder("HOME") }

  /// The folder for data, `$XDG_DATA_HOME`, else `~/.local/share`.
  package var dataHome: String? { folder("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" } }

  /// The folder for state, `$XDG_STATE_HOME`, else `~/.local/state`.
  package var stateHome: String? { folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" } }

  /// The folder for what can be made again, `$XDG_CACHE_HOME`, else `~/.cache`.
  package var cacheHome: String? { folder("XDG_CACHE_HOME") ?? home.map { $0 + "/.cache" } }

  /// The folder for what ends with the session, `$XDG_RUNTIME_DIR`; it has no stand-in here.
  package var runtimeFolder: String? { folder("XDG_RUNTIME_DIR") }

  /// Where Keytree keeps its engine homes: the runtime folder, else the cache folder.
  package var runtimeBase: String? { (runtimeFolder ?? cacheHome).map { $0 + "/keytree" } }

  /// The user's GnuPG home, `$GNUPGHOME`; nil leaves the choice to GnuPG.
  package var gnupgHome: String? { text("GNUPGHOME") }

  /// Where programs are looked for, `$PATH`, else what POSIX systems have in common.
  package var searchPath: String { text("PATH") ?? "/usr/local/bin:/usr/bin:/bin" }

  /// The editor the user wants: `$VISUAL`, else `$EDITOR`, else `vi`; POSIX, and git and crontab alike.
  package var editor: String { text("VISUAL") ?? text("EDITOR") ?? "vi" }

  /// How many threads seal many items, `$KEYTREE_WORKERS`; 0 for one for each processor.
  package var workers: Int { text("KEYTREE_WORKERS").flatMap { Int($0) }.map { min(max($0, 0), 64) } ?? 0 }

  /// The kind of terminal, `$TERM`.
  package var terminalKind: String? { text("TERM") }

  /// Where the store is: the option, else `KEYTREE_STORE`, else `keytree` in the folder for data.
  ///
  /// - Parameter option: the value of `--store`.
  /// - Throws: `storeLocationUnknown` when nothing says where, or what says it is not UTF-8 or empty.
  package func storePath(option: String?) throws -> String {
    if let option {
      guard !option.isEmpty else { throw CommandError.storeLocationUnknown(reason: "`--store` is empty") }
      return option
    }
    if let bytes = bytes("KEYTREE_STORE"), !bytes.isEmpty {
      guard let path = text("KEYTREE_STORE") else {
        throw CommandError.storeLocationUnknown(reason: "`KEYTREE_STORE` is not UTF-8")
      }
      return path
    }
    guard let dataHome else {
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set to an absolute path")
    }
    return dataHome + "/keytree"
  }
}
