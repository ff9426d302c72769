internal import CSystem
internal import Glibc
internal import Secrets

/// A file of the person, outside of any store: links are followed, and its content may be secret.
enum UserFile {
  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: the file as the person named it.
  ///   - limit: the most bytes that are read.
  /// - Throws: `file` with what the system said, `EFBIG` for more bytes than the limit and `EISDIR` for a folder.
  static func read(_ path: String, limit: Int) throws(Failure) -> SecretBytes {
    let file = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { throw .file(action: "open", path: path, errno: errno) }
    defer { close(file) }
    do {
      return try SecretInput.read(descriptor: file, limit: limit)
    } catch {
      switch error {
      case .tooLong: throw .file(action: "read", path: path, errno: EFBIG)
      case .readFailed(let number): throw .file(action: "read", path: path, errno: number)
      case .endOfInput, .interrupted, .notATerminal, .lineTooLong: throw Failure(error)
      }
    }
  }

  /// The text of a small file that holds no secret; nil when it cannot be read, which for a file of settings
  /// means that it says nothing.
  static func text(_ path: String) -> String? {
    guard let bytes = try? read(path, limit: 1 << 20) else { return nil }
    return unsafe bytes.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
