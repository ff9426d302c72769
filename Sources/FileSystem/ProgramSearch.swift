internal import Glibc

/// The search for programs.
package enum ProgramSearch {
  /// Looks for a program as a shell does, but only in absolute folders, because a relative one is another folder in
  /// every
  /// place, and passes over programs that somebody else could change (``FileProtection/weakness(ofProgram:)``).
  ///
  /// - Parameters:
  ///   - name: The file name of the program.
  ///   - searchPath: Folders, separated by colons, as in `PATH`; the first one that has a safe program wins.
  /// - Returns: The absolute path; nil when no folder has it, or the name is empty or has a slash or a NUL in it.
  package static func path(of name: String, in searchPath: String) -> String? {
    guard !name.isEmpty, !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }) else {
      return nil
    }
    for folder in searchPath.split(separator: ":") where folder.hasPrefix("/") {
      let path = "\(folder)/\(name)"
      if isProgram(path), FileProtection.weakness(ofProgram: path) == nil { return path }
    }
    return nil
  }

  /// The folders of a search path in which nobody else can place a program: for a program that starts others itself.
  ///
  /// - Parameter searchPath: Folders, separated by colons, as in `PATH`.
  package static func safeFolders(of searchPath: String) -> String {
    searchPath.split(separator: ":").filter { folder in
      folder.hasPrefix("/") && FileProtection.weakness(ofProgram: String(folder)) == nil
    }.joined(separator: ":")
  }

  /// Returns true if a path leads to a file that this process may run.
  package static func isProgram(_ path: String) -> Bool {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
    return unsafe access(path, X_OK) == 0
  }
}
