internal import CSystem
internal import FileSystem
internal import Glibc
package import Secrets

/// A new folder in memory that contains one secret while it is edited.
///
/// It is created with mode 0700, only on tmpfs or ramfs, and is locked while it is in use. A folder without a lock was
/// left behind by a killed process; the next edit removes it. tmpfs can be swapped out; only encrypted swap protects
/// against that.
package struct EditorFolder {
  /// The absolute path.
  package let path: String
  private let base: Int32
  private let descriptor: Int32
  private let name: String

  private static let prefix = "keytree-edit-"
  private static let fileName = "secret"

  /// The path of the file with the secret.
  var filePath: String { path + "/" + Self.fileName }

  /// Creates a folder below the first of the given folders that is in memory, and removes stale ones there.
  ///
  /// - Throws: `noMemoryFolder` if none is in memory; `systemCall` if the folder cannot be created.
  package static func create(below bases: [String]) throws(EditorError) -> EditorFolder {
    for path in bases {
      let base = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard base >= 0 else { continue }
      guard keytree_is_in_memory(base) == 1 else {
        close(base)
        continue
      }
      sweep(base)
      do throws(EditorError) {
        return try create(in: base, path: path)
      } catch {
        close(base)
        throw error
      }
    }
    throw .noMemoryFolder(tried: bases)
  }

  private static func create(in base: Int32, path: String) throws(EditorError) -> EditorFolder {
    var generator = SystemRandomNumberGenerator()
    // Another process may remove the folder before it is locked; then try another name.
    for _ in 0..<10 {
      let name = prefix + String(generator.next() as UInt64, radix: 36)
      guard unsafe mkdirat(base, name, 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw .systemCall(action: "create a folder in", path: path, errno: errno)
      }
      let descriptor = unsafe keytree_openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
      guard descriptor >= 0 else { continue }
      if lock(descriptor), isOurs(descriptor) {
        return EditorFolder(path: path + "/" + name, base: base, descriptor: descriptor, name: name)
      }
      close(descriptor)
    }
    throw .systemCall(action: "create a folder in", path: path, errno: EAGAIN)
  }

  /// Writes the secret to its file.
  ///
  /// - Throws: `systemCall`, for example if the memory is full.
  package func write(_ secret: borrowing SecretBytes) throws(EditorError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = unsafe keytree_openat(descriptor, Self.fileName, flags, 0o600)
    guard file >= 0 else { throw .systemCall(action: "make", path: filePath, errno: errno) }
    defer { close(file) }
    let problem = unsafe secret.withBytes { bytes in unsafe DescriptorOutput(file).write(bytes) }
    guard problem == 0 else { throw .systemCall(action: "write", path: filePath, errno: problem) }
  }

  /// Reads the secret back. The editor may have replaced the file with another one.
  ///
  /// - Throws: `fileMissing`; `tooLong`; `systemCall`.
  package func read(limit: Int) throws(EditorError) -> SecretBytes {
    let file = unsafe keytree_openat(
      descriptor, Self.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    guard file >= 0 else {
      if errno == ENOENT || errno == ELOOP { throw .fileMissing }
      throw .systemCall(action: "read", path: filePath, errno: errno)
    }
    defer { close(file) }
    var facts = stat()
    guard unsafe fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw .fileMissing }
    do {
      return try SecretInput.read(descriptor: file, limit: limit)
    } catch .tooLong(let limit) {
      throw .tooLong(limit: limit)
    } catch .readFailed(let number) {
      throw .systemCall(action: "read", path: filePath, errno: number)
    } catch {
      throw .systemCall(action: "read", path: filePath, errno: EIO)
    }
  }

  /// Wipes every file in the folder, removes the folder and closes it. Call it once, as the last method.
  package func remove() {
    Self.wipe(descriptor)
    unsafe unlinkat(base, name, AT_REMOVEDIR)
    close(descriptor)
    close(base)
  }

  // MARK: - Cleanup

  /// Returns the folders that killed processes left below the given folders, without changing them.
  package static func leftBehind(below bases: [String]) -> [String] {
    bases.flatMap { path -> [String] in
      let base = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard base >= 0 else { return [] }
      defer { close(base) }
      var found: [String] = []
      forEachLeftBehind(in: base) { name, _ in found.append("\(path)/\(name)") }
      return found.sorted()
    }
  }

  /// Removes the folders that killed processes left behind.
  private static func sweep(_ base: Int32) {
    forEachLeftBehind(in: base) { name, folder in
      wipe(folder)
      unsafe unlinkat(base, name, AT_REMOVEDIR)
    }
  }

  /// Calls `body` for every folder that is no longer in use, with its name and its descriptor.
  private static func forEachLeftBehind(in base: Int32, _ body: (String, Int32) -> Void) {
    for name in FolderNames.text(base) where name.hasPrefix(prefix) {
      let folder = unsafe keytree_openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
      guard folder >= 0 else { continue }
      // A folder in use is locked. A folder of another user must not be removed.
      if isOurs(folder), lock(folder) { body(name, folder) }
      close(folder)
    }
  }

  /// Locks a folder, or returns false if another process holds the lock. The kernel releases the lock when the process
  /// ends for any reason; `flock(2)`.
  private static func lock(_ folder: Int32) -> Bool {
    flock(folder, LOCK_EX | LOCK_NB) == 0
  }

  /// Returns true if a folder still exists, belongs to this user, and is not accessible to other users.
  private static func isOurs(_ folder: Int32) -> Bool {
    var facts = stat()
    guard unsafe fstat(folder, &facts) == 0 else { return false }
    return facts.st_uid == geteuid() && facts.st_mode & 0o077 == 0 && facts.st_nlink > 0
  }

  /// Overwrites and removes everything in a folder. Failures are ignored: everything that can be removed is removed,
  /// and the next edit tries the rest again.
  private static func wipe(_ folder: Int32) {
    // Editors use UTF-8 for file names. Files with other names are not removed.
    for name in FolderNames.text(folder) {
      var facts = stat()
      guard unsafe fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      switch facts.st_mode & S_IFMT {
      case S_IFDIR:
        let below = unsafe keytree_openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        if below >= 0 {
          wipe(below)
          close(below)
        }
        unsafe unlinkat(folder, name, AT_REMOVEDIR)
      case S_IFREG where facts.st_nlink == 1:
        let file = unsafe keytree_openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0)
        if file >= 0 {
          overwrite(file, count: Int(facts.st_size))
          close(file)
        }
        unsafe unlinkat(folder, name, 0)
      default:
        unsafe unlinkat(folder, name, 0)
      }
    }
  }

  private static func overwrite(_ file: Int32, count: Int) {
    let zeros = [UInt8](repeating: 0, count: 4096)
    var left = count
    while left > 0 {
      let written = unsafe zeros.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, min(left, 4096)) }
      guard written > 0 else { return }
      left -= written
    }
  }
}
