internal import CSystem
internal import Glibc

/// Reads whole files, without following links.
enum FileReading {
  static func read(
    _ name: String, in folder: Int32, path: String, limit: Int
  ) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    try read(name, in: folder, path: path, limit: limit, into: &bytes)
    return bytes
  }

  /// Reads a file into an array whose storage is reused between calls.
  ///
  /// - Returns: The status of the file before its first byte was read.
  @discardableResult
  static func read(
    _ name: String, in folder: Int32, path: String, limit: Int, into buffer: inout [UInt8]
  ) throws(FileError) -> FileStatus {
    let file = unsafe keytree_openat(folder, name, flags, 0)
    guard file >= 0 else {
      throw errno == ELOOP ? FileError("open", path, .notARegularFile) : .current("open", path)
    }
    defer { close(file) }
    return try read(file, path: path, limit: limit, into: &buffer)
  }

  /// Reads a file at a path of several components with one system call that resolves it without following links.
  ///
  /// - Returns: Nil if it cannot be opened in this way. The reason is the caller's to find out, because the kernel may
  ///   not have the call.
  static func read(below root: Int32, path: String, limit: Int) throws(FileError) -> [UInt8]? {
    let file = unsafe keytree_open_below(root, path, flags)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    _ = try read(file, path: path, limit: limit, into: &bytes)
    return bytes
  }

  // O_NONBLOCK: opening a pipe instead of a file must not wait for a writer.
  private static let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC

  private static func read(
    _ file: Int32, path: String, limit: Int, into buffer: inout [UInt8]
  ) throws(FileError) -> FileStatus {
    var info = stat()
    guard unsafe fstat(file, &info) == 0 else { throw .current("stat", path) }
    let status = FileStatus(info)
    guard status.kind == .regular else { throw FileError("open", path, .notARegularFile) }
    // A file with no links was replaced by a writer after it was opened. The old version is still complete.
    guard status.links <= 1 else { throw FileError("open", path, .hasOtherNames) }
    guard status.size <= limit else { throw FileError("read", path, .tooLarge(limit: limit)) }

    buffer.removeAll(keepingCapacity: true)
    // Otherwise the standard library would write to the storage that all empty arrays share, which is a data race.
    if status.size == 0 { return status }
    var failure: FileError?
    // Reads at most the size that the file had when it was opened. Keytree replaces whole files, so only another
    // program can make a file grow while it is read.
    buffer.append(addingCapacity: status.size) { span in
      unsafe span.withUnsafeMutableBufferPointer { memory, initialized in
        var filled = 0
        while filled < status.size {
          let count = unsafe Glibc.read(
            file, memory.baseAddress.map { unsafe $0 + filled }, status.size - filled)
          if count < 0 && errno == EINTR { continue }
          guard count >= 0 else {
            failure = .current("read", path)
            break
          }
          if count == 0 { break }
          filled += count
        }
        initialized = filled
      }
    }
    if let failure { throw failure }
    return status
  }
}
