internal import Glibc

/// Remembers the version that a gpg told, so that not every process has to ask again.
///
/// Asking means to run `gpg --version`, a third of the time that it takes to decrypt an item. The answer holds
/// as long as the program file is the same one: device, inode, size, and both times.
enum VersionFile {
  private static let name = "gpg-version"
  private static let limit = 8192

  /// What was remembered about a gpg.
  ///
  /// - Parameters:
  ///   - path: The program, absolute and checked.
  ///   - folder: Where it is remembered.
  /// - Returns: The version, or nil when nothing that still holds is known, or others can write there.
  static func version(of path: String, in folder: String) -> String? {
    guard let identity = identity(of: path), isPrivate(folder),
      let bytes = SmallFile.read("\(folder)/\(name)", limit: limit)
    else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 4, lines[0] == path, lines[1] == identity, lines[3].isEmpty else { return nil }
    return String(lines[2])
  }

  /// Remembers a version. When that is not possible, the next process asks again.
  ///
  /// - Parameters:
  ///   - version: What the program said.
  ///   - path: The program.
  ///   - folder: Where to remember it; made when it is missing.
  static func remember(_ version: String, of path: String, in folder: String) {
    guard let identity = identity(of: path), !path.contains("\n"), !version.contains("\n") else { return }
    do {
      try PrivateFolder.make(folder)
      try SmallFile.write(Array("\(path)\n\(identity)\n\(version)\n".utf8), to: "\(folder)/\(name)")
    } catch {
      // A folder that cannot be used is reported by the engine home, which needs it more.
    }
  }

  private static func identity(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
    return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(times[0]) \(times[1])"
  }

  private static func isPrivate(_ folder: String) -> Bool {
    var status = stat()
    return unsafe lstat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
  }
}
