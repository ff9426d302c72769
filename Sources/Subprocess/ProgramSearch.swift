internal import Glibc

/// Where a program is.
package enum ProgramSearch {
  /// Looks for a program as a shell does, in absolute folders only: a relative one means another folder in
  /// every place.
  ///
  /// - Parameters:
  ///   - name: The file name of the program.
  ///   - searchPath: Folders, separated by colons, as in `PATH`; the first one that has the program wins.
  /// - Returns: The absolute path; nil when no folder has it, or the name is empty or has a slash or a NUL in it.
  package static func path(of name: String, in searchPath: String) -> String? {
    guard !name.isEmpty, !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }) else {
      return nil
    }
    for folder in searchPath.split(separator: ":") where folder.hasPrefix("/") {
      let path = "\(folder)/\(name)"
      if isProgram(path) { return path }
    }
    return nil
  }

  /// Whether a path leads to a file that this process may run.
  package static func isProgram(_ path: String) -> Bool {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
    return unsafe access(path, X_OK) == 0
  }
}
