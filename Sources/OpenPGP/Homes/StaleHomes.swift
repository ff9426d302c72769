internal import FileSystem
internal import Glibc

/// Removes engine homes of old key sets, and damaged ones.
enum StaleHomes {
  private static let unusedForSeconds = 7 * 86_400

  /// Removes homes that are not in use and were not used for a week.
  ///
  /// - Parameters:
  ///   - base: The folder of all engine homes. The caller must hold the lock of the makers.
  ///   - current: The name of the home to keep.
  static func remove(in base: String, except current: String) {
    guard let stream = unsafe opendir(base) else { return }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      // Homes that a killed process had begun to remove. The caller has the lock of the makers.
      if name.hasPrefix(discarded) { clear("\(base)/\(name)") }
      // Only names that are certainly ours, because other programs may use a runtime folder too.
      guard name != current, KeyID(name) != nil, name == name.lowercased() else { continue }
      removeIfStale("\(base)/\(name)")
    }
  }

  private static func removeIfStale(_ path: String) {
    var status = stat()
    let stamp = HomeSeal.path(in: path)
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
    guard PrivateFolder.isPrivate(base), PrivateFolder.isPrivate(path) else { return }
    removeUnused(path)
    // The folder stays if it has other homes. Makers find that their lock was removed.
    if FolderNames.text(at: base) == [makersName] { _ = unsafe unlink(makers(in: base)) }
    _ = unsafe rmdir(base)
  }

  /// Returns the path of the lock of the process that makes homes.
  ///
  /// - Parameter base: The folder of all engine homes.
  static func makers(in base: String) -> String { "\(base)/\(makersName)" }

  private static let makersName = "homes.lock"
  private static let discarded = ".discarded-"

  /// Removes whatever is at the path of a home, although it may be in use. The caller must hold the lock of the makers.
  ///
  /// - Parameter path: The path, in a folder that only this user can change.
  static func discard(_ path: String) {
    guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
    let aside = "\(path[..<end])/\(discarded)\(UInt64.random(in: .min ... .max))"
    // If this fails, nothing was there, or making the home fails, too.
    if unsafe rename(path, aside) == 0 { clear(aside) }
  }

  private static func removeUnused(_ path: String) {
    // A home is left alone if its lock cannot be opened or is held.
    guard let lock = try? HomeLock(home: path), lock.take(.exclusive, within: 0) else { return }
    clear(path)
  }

  private static func clear(_ path: String) {
    var status = stat()
    // Nothing is there, or a link or a file is in place of a home.
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      _ = unsafe unlink(path)
      return
    }
    _ = unsafe chmod(path, 0o700)
    let redirect = HomeSeal.redirect(of: path)
    // The stamp first: if the process is killed, an unfinished home remains.
    _ = unsafe unlink(HomeSeal.path(in: path))
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
