internal import Glibc

/// An open folder from which several files are read.
package struct FolderHandle: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Reads a regular file of this folder into `buffer`, replacing its content.
  ///
  /// - Returns: The status of the file before it was read; `nil` if it does not exist.
  /// - Throws: The errors of `FileTree.read(_:limit:)`.
  package func read(
    _ name: String, into buffer: inout [UInt8], limit: Int
  ) throws(FileError) -> FileStatus? {
    do {
      return try FileReading.read(
        name, in: descriptor, path: "\(path)/\(name)", limit: limit, into: &buffer)
    } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Returns the status of a name in this folder without following a link; `nil` if nothing exists there.
  package func status(_ name: String) throws(FileError) -> FileStatus? {
    var info = stat()
    if unsafe fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(info) }
    if errno == ENOENT { return nil }
    throw .current("stat", "\(path)/\(name)")
  }

  /// Returns the names in this folder, sorted by bytes.
  ///
  /// Invalid UTF-8 in a name becomes replacement characters. Keytree creates no such names, so the file is a stray one,
  /// which can be reported but not opened by this name.
  package func names() throws(FileError) -> [String] {
    do {
      return try FolderNames.list(descriptor).map { String(decoding: $0, as: UTF8.self) }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      throw FileError("read", path, .system(error.errno))
    }
  }
}
