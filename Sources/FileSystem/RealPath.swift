internal import Glibc

/// Absolute paths without links.
package enum RealPath {
  /// Returns the path of a file without links (`realpath(3)`).
  ///
  /// - Parameter path: A path, relative to the working directory or absolute.
  /// - Returns: Nil if there is no such file, or if a folder above it cannot be searched.
  package static func of(_ path: String) -> String? {
    guard !path.utf8.contains(0), let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
