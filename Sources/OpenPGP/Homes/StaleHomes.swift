internal import FileSystem
internal import Glibc

/// Removes engine homes of old key sets.
enum StaleHomes {
  private static let unusedForSeconds = 7 * 86_400

  /// Removes homes that are not in use and were not used for a week.
  ///
  /// - Parameters:
  ///   - base: The folder of all engine homes.
  ///   - current: The name of the home to keep.
  static func remove(in base: String, except current: String) {
    guard let stream = unsafe opendir(base) else { return }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      // Only names that are certainly ours, because other programs may use a runtime folder too.
      guard name != current, KeyID(name) != nil, name == name.lowercased() else { continue }
      removeIfStale("\(base)/\(name)")
    }
  }

  private static func removeIfStale(_ path: String) {
    var status = stat()
    let stamp = EngineHome.stamp(path)
    if unsafe lstat(stamp, &status) != 0, unsafe lstat(path, &status) != 0 { return }
    guard time(nil) - status.st_mtim.tv_sec > unusedForSeconds else { return }
    removeUnused(path)
  }

  /// Removes a home that was made in memory while its disk was full, unless a process uses it.
  ///
  /// - Parameters:
  ///   - name: The name of the home.
  ///   - base: The folder of homes in memory. Anyone can make a folder with its name first.
  static func removeSpare(_ name: String, in base: String) {
    let path = "\(base)/\(name)"
    // In a folder that only this user can change, nothing is exchanged after this look.
    guard isPrivateFolder(base), isPrivateFolder(path) else { return }
    removeUnused(path)
    _ = unsafe rmdir(base)
  }

  private static func isPrivateFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_mode & 0o7777 == 0o700 && status.st_uid == geteuid()
  }

  private static func removeUnused(_ path: String) {
    let stamp = EngineHome.stamp(path)
    // A home is left alone if its lock cannot be opened or is held.
    guard let lock = try? HomeLock(home: path), lock.take(.exclusive, within: 0) else { return }
    // The stamp first: if the process is killed, an unfinished home remains.
    let redirect = SmallFile.read(stamp, limit: 8192).flatMap(EngineHome.redirect(inStamp:))
    _ = unsafe unlink(stamp)
    if let redirect, redirect.socket != nil {
      _ = unsafe unlink(redirect.path)
      // Under /run/user each home has a folder for its sockets. It is only removed if it is empty.
      if let end = redirect.path.utf8.lastIndex(of: UInt8(ascii: "/")) {
        _ = unsafe rmdir(String(redirect.path[..<end]))
      }
    }
    FolderRemoval.removeContent(of: path)
    _ = unsafe rmdir(path)
  }
}
