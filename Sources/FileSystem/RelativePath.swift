/// Functions on paths relative to the store.
package enum RelativePath {
  /// Returns everything before the last `/`; an empty string for a name without one.
  package static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[..<slash])
  }

  /// Returns everything after the last `/`.
  package static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// Returns true if a path stays below the store and does not enter a `.git` folder.
  package static func isPlain(_ path: String) -> Bool {
    !path.utf8.contains(0) && !path.isEmpty
      && path.split(separator: "/", omittingEmptySubsequences: false)
        .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && $0 != ".git" }
  }
}
