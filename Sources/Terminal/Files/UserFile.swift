internal import CSystem
internal import FileSystem
internal import Glibc
package import Secrets

/// A file of the user, outside of any store. Links are followed, and its content may be secret.
package enum UserFile {
  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: the path as the user typed it.
  ///   - limit: the largest number of bytes to read.
  /// - Throws: `UserFileError` with the system's error, `EFBIG` for more bytes than the limit, and `EISDIR` for a
  ///   folder.
  package static func read(_ path: String, limit: Int) throws -> SecretBytes {
    let file = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { throw UserFileError(action: "open", path: path, errno: errno) }
    defer { close(file) }
    return try read(file, path, limit: limit)
  }

  private static func read(_ file: Int32, _ path: String, limit: Int) throws -> SecretBytes {
    do {
      return try SecretInput.read(descriptor: file, limit: limit)
    } catch {
      switch error {
      case .tooLong: throw UserFileError(action: "read", path: path, errno: EFBIG)
      case .readFailed(let number): throw UserFileError(action: "read", path: path, errno: number)
      case .endOfInput, .interrupted, .timedOut, .notATerminal, .lineTooLong: throw TerminalError(error)
      }
    }
  }

  /// Reads a file of settings that only this user or root can change. The content is not secret.
  ///
  /// - Returns: the content; nil if the file does not exist.
  /// - Throws: the errors of `readIfPresent`; `UserFileError` with `EPERM` if another user can change the file.
  package static func readOwn(_ path: String, limit: Int) throws -> SecretBytes? {
    guard let (file, facts) = try openRegular(path) else { return nil }
    defer { close(file) }
    guard facts.st_uid == geteuid() || facts.st_uid == 0, facts.st_mode & 0o022 == 0 else {
      throw UserFileError(action: "trust", path: path, errno: EPERM)
    }
    return try read(file, path, limit: limit)
  }

  /// Reads a file that may be missing. Anyone may be able to change it, so it is only compared and shown.
  ///
  /// - Returns: the content; nil if the file does not exist.
  /// - Throws: the errors of `read`; `UserFileError` with `EINVAL` for a pipe or anything else that is not a regular file.
  package static func readIfPresent(_ path: String, limit: Int) throws -> SecretBytes? {
    guard let (file, _) = try openRegular(path) else { return nil }
    defer { close(file) }
    return try read(file, path, limit: limit)
  }

  /// Opens a regular file; nil if it does not exist. The caller closes the descriptor.
  private static func openRegular(_ path: String) throws -> (file: Int32, facts: stat)? {
    // O_NONBLOCK: opening a pipe instead of the file must not wait for a writer.
    let file = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    if file < 0, errno == ENOENT || errno == ENOTDIR { return nil }
    guard file >= 0 else { throw UserFileError(action: "open", path: path, errno: errno) }
    var facts = stat()
    let code = unsafe fstat(file, &facts) == 0 ? 0 : errno
    guard code == 0, facts.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw UserFileError(action: "read", path: path, errno: code == 0 ? EINVAL : code)
    }
    return (file, facts)
  }

  /// Removes a file.
  ///
  /// - Throws: `UserFileError` with the system's error.
  package static func remove(_ path: String) throws {
    guard unsafe unlink(path) == 0 else { throw UserFileError(action: "remove", path: path, errno: errno) }
  }

  /// Creates or replaces a file that everyone may read, and the folders above it. A link is followed.
  ///
  /// - Parameter isForAllUsers: true if every user may also enter the folders that are created.
  /// - Throws: `UserFileError` with the system's error.
  package static func replacePublic(_ path: String, _ bytes: [UInt8], isForAllUsers: Bool = false) throws {
    try replace(path, bytes, mode: 0o644, folderMode: isForAllUsers ? 0o755 : 0o700)
  }

  /// Creates or replaces a file of settings, and the folders above it. A link is followed.
  ///
  /// - Throws: `UserFileError` with the system's error.
  package static func replaceOwn(_ path: String, _ bytes: [UInt8]) throws {
    try replace(path, bytes, mode: 0o600, folderMode: 0o700)
  }

  private static func replace(_ path: String, _ bytes: [UInt8], mode: mode_t, folderMode: mode_t) throws {
    let folders = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
    try makeFolders(folders, mode: folderMode)
    let target = RealPath.of(path) ?? path
    // The new content replaces the old one in one step, so that another process never reads a part of it.
    let temporary = "\(target).\(getpid()).new"
    let file = unsafe keytree_openat(
      AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw UserFileError(action: "create", path: temporary, errno: errno) }
    do {
      defer { close(file) }
      try write(bytes, to: file, temporary)
      guard fchmod(file, mode) == 0 else {
        throw UserFileError(action: "write", path: temporary, errno: errno)
      }
      guard fsync(file) == 0 else { throw UserFileError(action: "write", path: temporary, errno: errno) }
      guard unsafe rename(temporary, target) == 0 else {
        throw UserFileError(action: "replace", path: target, errno: errno)
      }
    } catch {
      unsafe unlink(temporary)
      throw error
    }
  }

  /// Creates a folder that only the user may enter, and the folders above it. Existing ones are left as they are, and
  /// links are followed.
  ///
  /// - Parameter path: an absolute path.
  /// - Throws: `UserFileError` with the system's error.
  package static func makeFolder(_ path: String) throws {
    try makeFolders(path.split(separator: "/")[...], mode: 0o700)
  }

  private static func makeFolders(_ names: ArraySlice<Substring>, mode: mode_t) throws {
    var folder = ""
    for name in names {
      folder += "/" + name
      let isNew = unsafe mkdir(folder, mode) == 0
      // The umask of this program leaves nothing to other users.
      guard isNew ? unsafe chmod(folder, mode) == 0 : errno == EEXIST else {
        throw UserFileError(action: "create", path: folder, errno: errno)
      }
    }
  }

  /// Returns true if a folder exists at the path.
  ///
  /// - Parameter path: the path as the user typed it.
  package static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  /// Replaces the content of an existing file. The content is not secret.
  ///
  /// - Throws: `UserFileError` with the system's error.
  package static func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let file = unsafe keytree_openat(AT_FDCWD, path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0)
    guard file >= 0 else { throw UserFileError(action: "open", path: path, errno: errno) }
    defer { close(file) }
    try write(bytes, to: file, path)
  }

  private static func write(_ bytes: [UInt8], to file: Int32, _ path: String) throws {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(file, buffer.baseAddress.map { unsafe $0 + written }, bytes.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw UserFileError(action: "write", path: path, errno: errno) }
      written += count
    }
  }

  /// Returns the text of a small file that contains no secret, or nil if it cannot be read. An unreadable settings file
  /// is treated as empty.
  package static func text(_ path: String) -> String? {
    guard let bytes = try? readIfPresent(path, limit: 1 << 20) else { return nil }
    return unsafe bytes.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
