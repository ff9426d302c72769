internal import Glibc

/// Reads and writes the small files of an engine home.
enum SmallFile {
  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: The file; a link is refused.
  ///   - limit: The maximum size, in bytes.
  ///   - isOwn: True if the file must belong to this user, and others may have no access.
  /// - Returns: The bytes; nil if the file does not exist, cannot be read, is larger, or is not a regular file. The
  ///   caller then makes the file again.
  static func read(_ path: String, limit: Int, isOwn: Bool = false) -> [UInt8]? {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= limit, !isOwn || status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, buffer.count - filled)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return nil }
      filled += got
    }
    return bytes
  }

  /// Replaces a file atomically: other processes see the old file or the new one.
  ///
  /// - Parameters:
  ///   - bytes: The new content.
  ///   - path: The file; mode 0600.
  ///   - isSynchronized: True to flush the file to disk. False is enough for a file that is removed soon.
  /// - Throws: `unsafeEngine` with the error of the system.
  static func write(_ bytes: [UInt8], to path: String, isSynchronized: Bool = true) throws(EngineError) {
    let temporary = "\(path).\(getpid())-\(UInt64.random(in: .min ... .max))"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = unsafe Glibc.open(temporary, flags, 0o600)
    guard descriptor >= 0 else { throw failure(temporary) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      if written <= 0 { break }
      rest = rest.dropFirst(written)
    }
    let isWritten = rest.isEmpty && (!isSynchronized || fsync(descriptor) == 0)
    let isClosed = close(descriptor) == 0
    guard isWritten, isClosed, unsafe rename(temporary, path) == 0 else {
      let error = failure(path)
      _ = unsafe unlink(temporary)
      throw error
    }
  }

  private static func failure(_ path: String) -> EngineError {
    .unsafeEngine(path: path, reason: PrivateFolder.reason(errno))
  }
}
