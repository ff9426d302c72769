internal import Glibc

/// Removes what is in a folder, without following links.
enum FolderRemoval {
  /// Removes the content of a folder of ours.
  ///
  /// What cannot be removed stays: a half-empty engine home has no stamp and is made anew.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - kept: The name of an entry to leave alone, or nil.
  static func removeContent(of path: String, except kept: String? = nil) {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    guard let stream = unsafe fdopendir(descriptor) else {
      close(descriptor)
      return
    }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name == "." || name == ".." || name == kept { continue }
      if unsafe unlinkat(descriptor, name, 0) == 0 { continue }
      removeContent(of: "\(path)/\(name)")
      _ = unsafe unlinkat(descriptor, name, AT_REMOVEDIR)
    }
  }
}
