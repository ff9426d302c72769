internal import CSystem
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
    do {
      return try SecretInput.read(descriptor: file, limit: limit)
    } catch {
      switch error {
      case .tooLong: throw UserFileError(action: "read", path: path, errno: EFBIG)
      case .readFailed(let number): throw UserFileError(action: "read", path: path, errno: number)
      case .endOfInput, .interrupted, .notATerminal, .lineTooLong: throw TerminalError(error)
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
