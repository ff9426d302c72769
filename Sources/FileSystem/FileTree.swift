internal import CSystem
internal import Glibc

/// A folder opened once, below which every path is walked component by component without following links.
///
/// Threats T20 and T33: links inside the store are no part of it, at any operation, and files are made
/// exclusively, for the owner alone. Paths are relative, separated by `/`, and made by this program: they
/// hold no `..`.
package final class FileTree: Sendable {
  /// The folder's path as it was given, for messages.
  package let path: String
  private let root: Int32
  private let faults: FaultPlan?

  /// Opens an existing folder.
  ///
  /// - Throws: `FileError` when it is missing or no folder.
  package init(at path: String, faults: FaultPlan? = nil) throws(FileError) {
    let descriptor = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw .current("open", path) }
    self.path = path
    self.root = descriptor
    self.faults = faults
  }

  deinit { close(root) }

  // MARK: Looking

  /// What stands at a path, the link itself where it is one; `nil` when nothing does.
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

  /// The status of the folder itself.
  package func rootStatus() throws(FileError) -> FileStatus {
    var info = stat()
    guard unsafe fstat(root, &info) == 0 else { throw .current("stat", path) }
    return FileStatus(info)
  }

  /// Reads a whole regular file; `nil` when it does not exist.
  ///
  /// - Parameter limit: the most bytes that are ever read.
  /// - Throws: `FileError` with `.notARegularFile`, `.hasOtherNames`, `.tooLarge`, or what the system said.
  package func read(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
    try waitingForWriters { () throws(FileError) in try readOnce(path, limit: limit) }
  }

  /// Reads again while a file has a second name and a writer is at work: it gives a file one while it puts the file in
  /// place.
  ///
  /// - Parameter body: Reads files of the store.
  /// - Throws: What `body` throws; `.hasOtherNames` if no writer is at work, or after about two seconds.
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

  /// How often a file is read again while a writer is at work, about once in a millisecond.
  private static let patience = 2000

  private func hasTransaction() throws(FileError) -> Bool {
    try list(Self.workFolder).contains { $0.hasPrefix(Self.transactionPrefix) }
  }

  /// The folder in which writers keep what is not in place yet.
  package static let workFolder = ".keytree"
  /// How the names of the folders begin in it, one for each writer at work.
  package static let transactionPrefix = "transaction-"

  /// Reads as `read` does, and does not wait for writers.
  package func readOnce(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
    do {
      return try withParent(of: path, create: false) { (parent, name) throws(FileError) in
        try FileReading.read(name, in: parent, path: path, limit: limit)
      }
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Opens a folder below this one for several reads; `nil` when it does not exist.
  ///
  /// - Throws: `FileError` when it is no folder or cannot be opened.
  package func folder(_ path: String) throws(FileError) -> FolderHandle? {
    do {
      return FolderHandle(owning: try openFolder(path, create: false), path: path)
    } catch {
      if error.reason == .system(ENOENT) { return nil }
      throw error
    }
  }

  /// The names in a folder, sorted by bytes, without `.` and `..`; none when the folder does not exist.
  package func list(_ path: String) throws(FileError) -> [String] {
    guard let handle = try folder(path) else { return [] }
    return try handle.names()
  }

  /// Whether somebody holds an exclusive lock on a file; nothing is made or changed to find out.
  ///
  /// - Throws: `FileError` when the file is there and cannot be opened.
  package func isLocked(_ path: String) throws(FileError) -> Bool {
    do {
      return try withParent(of: path, create: false) { (parent, name) throws(FileError) in
        let file = unsafe keytree_openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
        guard file >= 0 else { throw .current("open", path) }
        defer { close(file) }
        return FileLock.take(file, .shared, within: 0) == EWOULDBLOCK
      }
    } catch {
      if error.isMissing { return false }
      throw error
    }
  }

  // MARK: Changing

  /// Makes a folder and those above it; existing ones are left as they are.
  package func makeDirectory(_ path: String) throws(FileError) {
    close(try openFolder(path, create: true))
  }

  /// Makes a new file with these bytes and brings the content to disk.
  ///
  /// - Parameter isSynchronized: whether its content is brought to disk; else `synchronizeAll()` has to.
  /// - Throws: `FileError`; `EEXIST` when something stands there already.
  package func createFile(
    _ path: String, _ bytes: [UInt8], isSynchronized: Bool = true
  ) throws(FileError) {
    try withParent(of: path, create: true) { (parent, name) throws(FileError) in
      try announce(.createFile, path)
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let file = unsafe keytree_openat(parent, name, flags, 0o600)
      guard file >= 0 else { throw .current("create", path) }
      defer { close(file) }
      try write(bytes, to: file, path: path)
      if !isSynchronized { return }
      try announce(.synchronize, path)
      // Not tried again on failure: the kernel may have dropped the pages and would then report success.
      guard fsync(file) == 0 else { throw .current("fsync", path) }
    }
  }

  /// Writes bytes at the beginning of an open file, through the seam.
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

  /// Puts a file at another path, replacing what stands there; folders above the new path are made.
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

  /// Gives a file a second name; folders above it are made.
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

  /// Removes a file or a link; it is no error when nothing is there.
  package func remove(_ path: String) throws(FileError) {
    try unlink(path, flags: 0, .remove)
  }

  /// Removes an empty folder; it is no error when nothing is there.
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

  /// Brings the names in a folder to disk; the empty path is the folder itself.
  package func synchronizeDirectory(_ path: String) throws(FileError) {
    let folder = try openFolder(path, create: false)
    defer { close(folder) }
    try announce(.synchronizeDirectory, path)
    guard fsync(folder) == 0 else { throw .current("fsync", path) }
  }

  /// Brings everything that was written on this file system to disk, contents and names: for many files far faster than
  /// one by one. `syncfs(2)`; it tells of errors since Linux 5.8.
  package func synchronizeAll() throws(FileError) {
    try announce(.synchronizeAll, path)
    guard keytree_synchronize_all(root) == 0 else { throw .current("syncfs", path) }
  }

  /// Replaces a file as a whole: new content in a temporary file, `fsync`, rename, `fsync` of the folder.
  package func replaceFile(_ path: String, with bytes: [UInt8], temporary: String) throws(FileError) {
    try remove(temporary)
    try createFile(temporary, bytes)
    try rename(temporary, to: path)
    try synchronizeDirectory(RelativePath.parent(of: path))
  }

  /// Replaces a file as a whole without bringing it to disk: after a crash of the machine it may be the old one, the
  /// new one, or spoiled.
  package func replaceFileLater(_ path: String, with bytes: [UInt8], temporary: String) throws(FileError) {
    try remove(temporary)
    try appendFile(temporary, bytes)
    try rename(temporary, to: path)
  }

  /// Adds bytes at the end of a file, which is made when it is missing; nothing is brought to disk.
  package func appendFile(_ path: String, _ bytes: [UInt8]) throws(FileError) {
    try withParent(of: path, create: true) { (parent, name) throws(FileError) in
      try announce(.createFile, path)
      // O_NONBLOCK: opening a pipe that stands in place of the file must not wait for a reader.
      let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      let file = unsafe keytree_openat(parent, name, flags, 0o600)
      guard file >= 0 else { throw .current("open", path) }
      defer { close(file) }
      try Self.requirePlainFile(file, path)
      try write(bytes, to: file, path: path)
    }
  }

  /// Opens a file for the lock, making it when it is missing.
  package func openForLock(_ path: String) throws(FileError) -> Int32 {
    try withParent(of: path, create: true) { (parent, name) throws(FileError) in
      let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC
      var file = unsafe keytree_openat(parent, name, flags, 0)
      if file < 0 && errno == ENOENT {
        try announce(.createFile, path)
        file = unsafe keytree_openat(parent, name, flags | O_CREAT, 0o600)
        // The folder may be new, too, and what is decided in it later must not be lost with it.
        if file >= 0 {
          try announce(.synchronizeDirectory, path)
          _ = fsync(parent) == 0 && fsync(root) == 0
        }
      }
      guard file >= 0 else { throw .current("open", path) }
      do throws(FileError) {
        // The number of a process is written into it.
        try Self.requirePlainFile(file, path)
      } catch {
        close(file)
        throw error
      }
      return file
    }
  }

  /// Refuses to write into what is no plain file, or is a file elsewhere as well.
  private static func requirePlainFile(_ file: Int32, _ path: String) throws(FileError) {
    var info = stat()
    guard unsafe fstat(file, &info) == 0 else { throw .current("stat", path) }
    let status = FileStatus(info)
    guard status.kind == .regular else { throw FileError("open", path, .notARegularFile) }
    guard status.links <= 1 else { throw FileError("open", path, .hasOtherNames) }
  }

  // MARK: Walking

  private func announce(_ operation: FileOperation, _ path: String) throws(FileError) {
    switch faults?(operation, path) {
    case .fail(let code), .failAfter(_, let code): throw FileError(operation.rawValue, path, .system(code))
    case nil: break
    }
  }

  /// Calls `body` with the open folder that holds the last component of `path`.
  private func withParent<R>(
    of path: String, create: Bool, _ body: (Int32, String) throws(FileError) -> R
  ) throws(FileError) -> R {
    let folder = RelativePath.parent(of: path)
    if folder.isEmpty { return try body(root, path) }
    let parent = try openFolder(folder, create: create)
    defer { close(parent) }
    return try body(parent, RelativePath.name(of: path))
  }

  /// Opens a folder by walking to it; the caller closes the descriptor.
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
        // A link where a folder is expected is refused by O_NOFOLLOW with one of these two.
        let isLink = code == ELOOP || (code == ENOTDIR && !path.isEmpty)
        throw FileError("open", path, isLink ? .notARegularFile : .system(code))
      }
      current = next
    }
    return current
  }
}
