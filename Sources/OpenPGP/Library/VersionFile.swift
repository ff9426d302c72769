internal import Encoding
internal import Glibc

/// Caches the version of a gpg, so that not every process has to run it.
///
/// `gpg --version` takes a third of the time of decrypting an item. The cached version is valid as long as the program
/// file is the same: device, inode, size, and both times.
enum VersionFile {
  private static let name = "gpg-version"
  private static let limit = 8192

  /// Returns the cached version of a gpg.
  ///
  /// - Parameters:
  ///   - path: The program, absolute and checked.
  ///   - folder: The folder of the cache.
  /// - Returns: The version; nil if there is no valid one, or if others have access to the folder.
  static func version(of path: String, in folder: String) -> String? {
    guard let identity = identity(of: path), PrivateFolder.isPrivate(folder),
      let bytes = SmallFile.read("\(folder)/\(name)", limit: limit)
    else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 4, lines[0] == path, lines[1] == identity, lines[3].isEmpty else { return nil }
    return String(lines[2])
  }

  /// Caches a version. If that fails, the next process runs gpg again.
  ///
  /// - Parameters:
  ///   - version: The version that the program reported.
  ///   - path: The program.
  ///   - folder: The folder of the cache; created if it is missing.
  static func remember(_ version: String, of path: String, in folder: String) {
    guard let identity = identity(of: path), !path.contains(bytesOf: "\n"), !version.contains(bytesOf: "\n")
    else { return }
    do {
      try PrivateFolder.make(folder)
      try SmallFile.write(Array("\(path)\n\(identity)\n\(version)\n".utf8), to: "\(folder)/\(name)")
    } catch {
      // The engine home needs the folder as well and reports the error.
    }
  }

  private static func identity(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
    return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(times[0]) \(times[1])"
  }
}
