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
  /// - Returns: the status that the file had before it was read; `nil` when it is missing.
  /// - Throws: as `FileTree.read(_:limit:)`.
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

  /// What stands in this folder under a name, the link itself where it is one; `nil` when nothing does.
  package func status(_ name: String) throws(FileError) -> FileStatus? {
    var info = stat()
    if unsafe fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(info) }
    if errno == ENOENT { return nil }
    throw .current("stat", "\(path)/\(name)")
  }

  /// The names in this folder, sorted by bytes.
  ///
  /// A name that is not UTF-8 is shown with replacement characters: no name of ours is like that, so it is
  /// a stray that can be told, but not opened by this name.
  package func names() throws(FileError) -> [String] {
    do {
      return try FolderNames.list(descriptor).map { String(decoding: $0, as: UTF8.self) }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      throw FileError("read", path, .system(error.errno))
    }
  }
}
