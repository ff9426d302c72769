internal import Glibc

/// Removes the content of folders without following links.
package enum FolderRemoval {
  /// Removes the content of a folder that Keytree created.
  ///
  /// Errors are ignored: a partly removed engine home has no stamp and is created again.
  ///
  /// - Parameter path: The folder.
  package static func removeContent(of path: String) {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    for name in FolderNames.text(descriptor) {
      if unsafe unlinkat(descriptor, name, 0) == 0 { continue }
      removeContent(of: "\(path)/\(name)")
      _ = unsafe unlinkat(descriptor, name, AT_REMOVEDIR)
    }
  }
}
