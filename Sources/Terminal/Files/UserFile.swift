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
  /// - Throws: the errors of `read`; `UserFileError` with `EPERM` if another user can change the file.
  package static func readOwn(_ path: String, limit: Int) throws -> SecretBytes? {
    let file = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    if file < 0, errno == ENOENT || errno == ENOTDIR { return nil }
    guard file >= 0 else { throw UserFileError(action: "open", path: path, errno: errno) }
    defer { close(file) }
    var facts = stat()
    guard unsafe fstat(file, &facts) == 0 else {
      throw UserFileError(action: "open", path: path, errno: errno)
    }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw UserFileError(action: "read", path: path, errno: EINVAL)
    }
    guard facts.st_uid == geteuid() || facts.st_uid == 0, facts.st_mode & 0o022 == 0 else {
      throw UserFileError(action: "trust", path: path, errno: EPERM)
    }
    return try read(file, path, limit: limit)
  }

  /// Reads a file that may be missing. Anyone may be able to change it, so it is only compared and shown.
  ///
  /// - Returns: the content; nil if the file does not exist.
  /// - Throws: the errors of `read`.
  package static func readIfPresent(_ path: String, limit: Int) throws -> SecretBytes? {
    do {
      return try read(path, limit: limit)
    } catch let error as UserFileError where error.errno == ENOENT || error.errno == ENOTDIR {
      return nil
    }
  }

  /// Removes a file.
  ///
  /// - Throws: `UserFileError` with the system's error.
  package static func remove(_ path: String) throws {
    guard unsafe unlink(path) == 0 else { throw UserFileError(action: "remove", path: path, errno: errno) }
  }

  /// Creates or replaces a file that everyone may read, and the folders above it. A link is followed, unless a folder
  /// is given that must contain the file.
  ///
  /// - Parameters:
  ///   - container: a folder in which another program can create links. The file must be in it, and a link in the place
  ///     of the file is replaced.
  ///   - isExecutable: true for a script.
  ///   - isForAllUsers: true if every user may also enter the folders that are created.
  /// - Throws: `UserFileError` with the system's error.
  package static func replacePublic(
    _ path: String, _ bytes: [UInt8], in container: String? = nil, isExecutable: Bool = false,
    isForAllUsers: Bool = false
  ) throws {
    try replace(
      path, bytes, in: container, mode: isExecutable ? 0o755 : 0o644,
      folderMode: isForAllUsers ? 0o755 : 0o700)
  }

  /// Creates or replaces a file of settings, and the folders above it. A link is followed.
  ///
  /// - Throws: `UserFileError` with the system's error.
  package static func replaceOwn(_ path: String, _ bytes: [UInt8]) throws {
    try replace(path, bytes, mode: 0o600, folderMode: 0o700)
  }

  private static func replace(
    _ path: String, _ bytes: [UInt8], in container: String? = nil, mode: mode_t, folderMode: mode_t
  ) throws {
    let folders = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
    var folder = ""
    for name in folders {
      folder += "/" + name
      let isNew = unsafe mkdir(folder, folderMode) == 0
      // The umask of this program leaves nothing to other users.
      guard isNew ? unsafe chmod(folder, folderMode) == 0 : errno == EEXIST else {
        throw UserFileError(action: "create", path: folder, errno: errno)
      }
    }
    var target = path
    if let container {
      guard let top = RealPath.of(container), let parent = RealPath.of(folder),
        parent.hasPrefix(top + "/")
      else { throw UserFileError(action: "create", path: path, errno: ELOOP) }
      target = "\(parent)/\(path.split(separator: "/").last ?? "")"
    } else if let real = RealPath.of(path) {
      target = real
    }
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
    guard let bytes = try? read(path, limit: 1 << 20) else { return nil }
    return unsafe bytes.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
