internal import CSystem
internal import Glibc

/// Folders for engine homes that are used if the disk of the usual folder is full or read-only. Homes are small and
/// hold public keys only, and without a home even a secret cannot be read.
enum FallbackFolders {
  /// The minimum space for a home, in bytes.
  private static let room = 256 << 10

  /// The folders in memory that only this user can write to, the preferred one first.
  static var inMemory: [String] {
    let user = geteuid()
    return [("/run/user/\(user)", "keytree"), ("/dev/shm", "keytree-\(user)"), ("/tmp", "keytree-\(user)")]
      .filter { isInMemory($0.0) }.map { "\($0)/\($1)" }
  }

  /// The folders that stay until the machine is started again. The folder in `/run/user` is removed at the end of the
  /// session, and is the usual folder of programs in it.
  static var lasting: [String] { inMemory.filter { !$0.hasPrefix("/run/user/") } }

  /// Returns true if a home cannot be made because the disk is full, over its quota, or read-only.
  ///
  /// - Parameter base: The folder for homes. If it does not exist, its nearest existing parent is tested.
  static func isFull(_ base: String) -> Bool {
    var folder = base
    while !folder.isEmpty, unsafe access(folder, F_OK) != 0, errno == ENOENT {
      folder = String(folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex))
    }
    let file = unsafe keytree_open_nameless(folder.isEmpty ? "/" : folder, 0o600)
    if file < 0 { return hasNoRoom(errno) }
    defer { close(file) }
    let bytes = [UInt8](repeating: 1, count: room)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return hasNoRoom(errno) }
      rest = rest.dropFirst(count)
    }
    return fsync(file) != 0 && hasNoRoom(errno)
  }

  private static func hasNoRoom(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EROFS].contains(code) }

  private static func isInMemory(_ folder: String) -> Bool {
    let descriptor = unsafe keytree_openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return keytree_is_in_memory(descriptor) == 1
  }
}
