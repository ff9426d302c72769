internal import Glibc

/// Finds programs in a search path.
package enum ProgramSearch {
  /// Looks for a program as a shell does, with two exceptions. It ignores relative folders, because they depend on the
  /// working directory, and programs that another user could change (``FileProtection/weakness(ofProgram:)``).
  ///
  /// - Parameters:
  ///   - name: The file name of the program.
  ///   - searchPath: Folders separated by colons, as in `PATH`. The first one that contains a safe program is used.
  /// - Returns: The absolute path; nil if no folder contains the program, or if the name is empty or contains a slash
  ///   or NUL.
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

  /// Returns the folders of a search path in which no other user can place a program, for a program that starts other
  /// programs.
  ///
  /// - Parameter searchPath: Folders separated by colons, as in `PATH`.
  package static func safeFolders(of searchPath: String) -> String {
    searchPath.split(separator: ":").filter { folder in
      folder.hasPrefix("/") && FileProtection.weakness(ofProgram: String(folder)) == nil
    }.joined(separator: ":")
  }

  /// Returns true if a path leads to a regular file that this process may execute.
  package static func isProgram(_ path: String) -> Bool {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
    return unsafe access(path, X_OK) == 0
  }
}
