internal import CSystem
internal import Glibc

/// An open folder. Every path below it is resolved component by component without following links.
///
/// Threats T20 and T33: no operation follows links inside the store, and files are created exclusively and only for the
/// owner. Paths are relative, separated by `/`, created by this program, and never contain `..`.
package final class FileTree: Sendable {
  /// The folder's path as given to the initializer, for messages.
  package let path: String
  private let root: Int32
  private let faults: FaultPlan?

  /// Opens an existing folder.
  ///
  /// - Throws: `FileError` if it does not exist or is not a folder.
  package init(at path: String, faults: FaultPlan? = nil) throws(FileError) {
    let descriptor = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw .current("open", path) }
    self.path = path
    self.root = descriptor
    self.faults = faults
  }

  deinit { close(root) }

  /// The absolute path of the folder now, without links (`proc(5)`). Nil if it was removed.
  package var currentPath: String? { RealPath.of("/proc/self/fd/\(root)") }

  // MARK: Reading

  /// Returns the status of a path without following a link; `nil` if nothing exists there.
  package func status(_ path: String) throws(FileError) -> FileStatus? {
    do {
      return try withParent(of: path, create: false) { (parent, name) throws(FileError) in
        var info = stat()
        if unsafe fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(info) }
        if errno == ENOENT { return nil }
        throw .current("stat", path)
      }
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Returns the status of the folder itself.
  package func rootStatus() throws(FileError) -> FileStatus {
    var info = stat()
    guard unsafe fstat(root, &info) == 0 else { throw .current("stat", path) }
    return FileStatus(info)
  }

  /// Reads a whole regular file; `nil` if it does not exist.
  ///
  /// - Parameter limit: The maximum size in bytes.
  /// - Throws: `FileError` with `.notARegularFile`, `.hasOtherNames`, `.tooLarge`, or the error of the system call.
  package func read(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
    try waitingForWriters { () throws(FileError) in try readOnce(path, limit: limit) }
  }

  /// Retries a read while a file has a second name and a writer is active, because a writer gives a file a second name
  /// while it installs the file.
  ///
  /// - Parameter body: Reads files of the store.
  /// - Throws: The errors of `body`; `.hasOtherNames` if no writer is active, or after about two seconds.
  package func waitingForWriters<R>(_ body: () throws(FileError) -> R) throws(FileError) -> R {
    do {
      return try body()
    } catch {
      guard error.reason == .hasOtherNames else { throw error }
    }
    for _ in 0..<Self.patience {
      let wasAtWork = try hasTransaction()
      do {
        return try body()
      } catch {
        guard error.reason == .hasOtherNames else { throw error }
        let isAtWork = try hasTransaction()
        guard wasAtWork || isAtWork else { throw error }
      }
      usleep(1000)
    }
    return try body()
  }

  /// The number of attempts to read a file while a writer is active, about one per millisecond.
  private static let patience = 2000

  private func hasTransaction() throws(FileError) -> Bool {
    try list(Self.workFolder).contains { $0.hasPrefix(Self.transactionPrefix) }
  }

  /// The folder in which writers keep files that are not installed yet.
  package static let workFolder = ".keytree"
  /// The prefix of the folder names in it, one folder for each active writer.
  package static let transactionPrefix = "transaction-"

  /// Reads like `read`, but does not wait for writers.
  package func readOnce(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
    if let bytes = try FileReading.read(below: root, path: path, limit: limit) { return bytes }
    do {
      return try withParent(of: path, create: false) { (parent, name) throws(FileError) in
        try FileReading.read(name, in: parent, path: path, limit: limit)
      }
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Opens a subfolder for several reads; `nil` if it does not exist.
  ///
  /// - Throws: `FileError` if it is not a folder or cannot be opened.
  package func folder(_ path: String) throws(FileError) -> FolderHandle? {
    do {
      return FolderHandle(owning: try openFolder(path, create: false), path: path)
    } catch {
      if error.reason == .system(ENOENT) { return nil }
      throw error
    }
  }

  /// Returns the names in a folder, sorted by bytes, without `.` and `..`; none if the folder does not exist.
  package func list(_ path: String) throws(FileError) -> [String] {
    guard let handle = try folder(path) else { return [] }
    return try handle.names()
  }

  /// Returns true if a process holds an exclusive lock on a file. Does not create or change the file.
  ///
  /// - Throws: `FileError` if the file exists and cannot be opened.
  package func isLocked(_ path: String) throws(FileError) -> Bool {
    do {
      return try withParent(of: path, create: false) { (parent, name) throws(FileError) in
        let file = unsafe keytree_openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
        guard file >= 0 else { throw .current("open", path) }
        defer { FileLock.release(file) }
        return FileLock.take(file, .shared, within: 0) == EWOULDBLOCK
      }
    } catch {
      if error.isMissing { return false }
      throw error
    }
  }

  // MARK: Changing

  /// Creates a folder and its missing parent folders. Existing ones are left unchanged.
  package func makeDirectory(_ path: String) throws(FileError) {
    close(try openFolder(path, create: true))
  }

  /// Creates a new file with these bytes and flushes them to disk.
  ///
  /// - Parameters:
  ///   - isSynchronized: False to leave the flushing to `synchronizeAll()`.
  ///   - permissions: The permissions of the file; those of its owner alone unless given.
  /// - Throws: `FileError`; `EEXIST` if something already exists at the path.
  package func createFile(
    _ path: String, _ bytes: [UInt8], isSynchronized: Bool = true, permissions: UInt32 = 0o600
  ) throws(FileError) {
    try withParent(of: path, create: true) { (parent, name) throws(FileError) in
      try announce(.createFile, path)
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let file = unsafe keytree_openat(parent, name, flags, 0o600)
      guard file >= 0 else { throw .current("create", path) }
      defer { close(file) }
      try write(bytes, to: file, path: path)
      if permissions != 0o600, fchmod(file, permissions) != 0 { throw .current("chmod", path) }
      if !isSynchronized { return }
      try synchronize(file, path: path)
    }
  }

  /// Writes bytes at the beginning of an open file, subject to the fault plan.
  ///
  /// A file opened with `O_APPEND` is appended to: Linux then ignores the offset of `pwrite(2)`.
  package func write(_ bytes: [UInt8], to file: Int32, path: String) throws(FileError) {
    var limit = bytes.count
    var failure: Int32?
    switch faults?(.write, path) {
    case .fail(let code): throw FileError("write", path, .system(code))
    case .failAfter(let count, let code): (limit, failure) = (min(count, limit), code)
    case nil: break
    }
    var written = 0
    while written < limit {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(file, buffer.baseAddress.map { unsafe $0 + written }, limit - written, written)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .current("write", path) }
      written += count
    }
    if let failure { throw FileError("write", path, .system(failure)) }
  }

  /// Flushes an open file to disk, subject to the fault plan.
  package func synchronize(_ file: Int32, path: String) throws(FileError) {
    try announce(.synchronize, path)
    // No retry after a failure: the kernel may have dropped the pages and would then report success.
    guard fsync(file) == 0 else { throw .current("fsync", path) }
  }

  /// Moves a file to another path, replacing a file there. Missing parent folders of the new path are created.
  package func rename(_ from: String, to: String) throws(FileError) {
    try withParent(of: from, create: false) { (fromParent, fromName) throws(FileError) in
      try withParent(of: to, create: true) { (toParent, toName) throws(FileError) in
        try announce(.rename, to)
        guard unsafe renameat(fromParent, fromName, toParent, toName) == 0 else {
          throw .current("rename", to)
        }
      }
    }
  }

  /// Gives a file a second name. Missing parent folders of the second name are created.
  ///
  /// - Returns: False if the file system has no hard links, or does not allow them here.
  package func link(_ path: String, to second: String) throws(FileError) -> Bool {
    try withParent(of: path, create: false) { (parent, name) throws(FileError) in
      try withParent(of: second, create: true) { (newParent, newName) throws(FileError) in
        try announce(.link, second)
        if unsafe linkat(parent, name, newParent, newName, 0) == 0 { return true }
        if [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) { return false }
        throw .current("link", second)
      }
    }
  }

  /// Removes a file or a link. Succeeds if nothing exists at the path.
  package func remove(_ path: String) throws(FileError) {
    try unlink(path, flags: 0, .remove)
  }

  /// Removes an empty folder. Succeeds if nothing exists at the path.
  package func removeDirectory(_ path: String) throws(FileError) {
    try unlink(path, flags: AT_REMOVEDIR, .removeDirectory)
  }

  private func unlink(_ path: String, flags: Int32, _ operation: FileOperation) throws(FileError) {
    do {
      try withParent(of: path, create: false) { (parent, name) throws(FileError) in
        try announce(operation, path)
        guard unsafe unlinkat(parent, name, flags) == 0 else { throw .current("remove", path) }
      }
    } catch {
      if !error.isMissing { throw error }
    }
  }

  /// Flushes the names in a folder to disk. The empty path is the folder itself.
  package func synchronizeDirectory(_ path: String) throws(FileError) {
    let folder = try openFolder(path, create: false)
    defer { close(folder) }
    try announce(.synchronizeDirectory, path)
    guard fsync(folder) == 0 else { throw .current("fsync", described(path)) }
  }

  /// Flushes everything that was written on this file system to disk, contents and names. For many files this is far
  /// faster than flushing each. Uses `syncfs(2)`, which reports errors since Linux 5.8.
  package func synchronizeAll() throws(FileError) {
    try announce(.synchronizeAll, path)
    guard keytree_synchronize_all(root) == 0 else { throw .current("syncfs", path) }
  }

  /// Replaces a whole file: new content in a temporary file, `fsync`, rename, `fsync` of the folder.
  ///
  /// - Parameter permissions: The permissions of the file; those of its owner alone unless given.
  package func replaceFile(
    _ path: String, with bytes: [UInt8], temporary: String, permissions: UInt32 = 0o600
  ) throws(FileError) {
    try remove(temporary)
    try createFile(temporary, bytes, permissions: permissions)
    try rename(temporary, to: path)
    try synchronizeDirectory(RelativePath.parent(of: path))
  }

  /// Replaces a whole file without flushing it to disk. After a crash of the machine it may be old, new or damaged.
  package func replaceFileLater(_ path: String, with bytes: [UInt8], temporary: String) throws(FileError) {
    try remove(temporary)
    try appendFile(temporary, bytes)
    try rename(temporary, to: path)
  }

  /// Appends bytes to a file, which is created if it does not exist. Nothing is flushed to disk.
  package func appendFile(_ path: String, _ bytes: [UInt8]) throws(FileError) {
    try withParent(of: path, create: true) { (parent, name) throws(FileError) in
      try announce(.createFile, path)
      // O_NONBLOCK: opening a pipe instead of the file must not wait for a reader.
      let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      let file = unsafe keytree_openat(parent, name, flags, 0o600)
      guard file >= 0 else { throw .current("open", path) }
      defer { close(file) }
      try Self.requirePlainFile(file, path)
      try write(bytes, to: file, path: path)
    }
  }

  /// Opens a file for locking, and creates it if it does not exist.
  package func openForLock(_ path: String) throws(FileError) -> Int32 {
    try withParent(of: path, create: true) { (parent, name) throws(FileError) in
      let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC
      var file = unsafe keytree_openat(parent, name, flags, 0)
      if file < 0 && errno == ENOENT {
        try announce(.createFile, path)
        file = unsafe keytree_openat(parent, name, flags | O_CREAT, 0o600)
        // The folder may be new, too. It is flushed so that transactions decided in it later are not lost with it.
        if file >= 0 {
          try announce(.synchronizeDirectory, path)
          _ = fsync(parent) == 0 && fsync(root) == 0
        }
      }
      guard file >= 0 else { throw .current("open", path) }
      do throws(FileError) {
        // Checked because the holder's process id will be written into the file.
        try Self.requirePlainFile(file, path)
      } catch {
        close(file)
        throw error
      }
      return file
    }
  }

  /// Refuses to write into anything but a regular file with one name.
  private static func requirePlainFile(_ file: Int32, _ path: String) throws(FileError) {
    var info = stat()
    guard unsafe fstat(file, &info) == 0 else { throw .current("stat", path) }
    let status = FileStatus(info)
    guard status.kind == .regular else { throw FileError("open", path, .notARegularFile) }
    guard status.links <= 1 else { throw FileError("open", path, .hasOtherNames) }
  }

  /// Returns a path for an error. The folder itself has an empty path, which would leave a gap in a message.
  private func described(_ path: String) -> String { path.isEmpty ? self.path : path }

  // MARK: Path resolution

  private func announce(_ operation: FileOperation, _ path: String) throws(FileError) {
    switch faults?(operation, path) {
    case .fail(let code), .failAfter(_, let code):
      throw FileError(operation.rawValue, described(path), .system(code))
    case nil: break
    }
  }

  /// Calls `body` with the open folder that contains the last component of `path`.
  private func withParent<R>(
    of path: String, create: Bool, _ body: (Int32, String) throws(FileError) -> R
  ) throws(FileError) -> R {
    let folder = RelativePath.parent(of: path)
    if folder.isEmpty { return try body(root, path) }
    let parent = try openFolder(folder, create: create)
    defer { close(parent) }
    return try body(parent, RelativePath.name(of: path))
  }

  /// Opens a folder component by component. The caller closes the descriptor.
  private func openFolder(_ path: String, create: Bool) throws(FileError) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let components = path.split(separator: "/")
    if components.isEmpty {
      let folder = unsafe keytree_openat(root, ".", flags, 0)
      guard folder >= 0 else { throw .current("open", self.path) }
      return folder
    }
    var current = root
    func leave() { if current != root { close(current) } }
    for component in components {
      let name = String(component)
      var next = unsafe keytree_openat(current, name, flags, 0)
      if next < 0 && errno == ENOENT && create {
        do {
          try announce(.makeDirectory, path)
        } catch {
          leave()
          throw error
        }
        if unsafe mkdirat(current, name, 0o700) == 0 || errno == EEXIST {
          next = unsafe keytree_openat(current, name, flags, 0)
        }
      }
      let code = errno
      leave()
      guard next >= 0 else {
        // O_NOFOLLOW fails with one of these two errors for a link instead of a folder.
        let isLink = code == ELOOP || (code == ENOTDIR && !path.isEmpty)
        throw FileError("open", path, isLink ? .notARegularFile : .system(code))
      }
      current = next
    }
    return current
  }
}
