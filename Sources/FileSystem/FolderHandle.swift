internal import CSystem
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

  /// Returns the stamp of the folder itself.
  package func stamp() throws(FileError) -> FileStamp {
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0 else { throw .current("stat", path) }
    return FileStamp(info)
  }

  /// Returns the stamp of a name in this folder without following a link; `nil` if nothing exists there, or if it has
  /// no status.
  ///
  /// - Parameter name: The name, with a NUL at its end. The bytes of a list that was read from a file need not be
  ///   converted to text.
  package func stamp(of name: ArraySlice<UInt8>) -> FileStamp? {
    precondition(name.last == 0, "a name for the system ends with a NUL")
    var info = stat()
    let code = unsafe name.withUnsafeBytes { bytes in
      unsafe bytes.baseAddress.map {
        unsafe fstatat(descriptor, $0.assumingMemoryBound(to: CChar.self), &info, AT_SYMLINK_NOFOLLOW)
      }
    }
    return code == 0 ? FileStamp(info) : nil
  }

  /// Opens a folder in this folder without following a link; `nil` if there is none.
  ///
  /// - Parameter name: The name, with a NUL at its end.
  package func folder(_ name: ArraySlice<UInt8>) -> FolderHandle? {
    precondition(name.last == 0, "a name for the system ends with a NUL")
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let child = unsafe name.withUnsafeBytes { bytes in
      unsafe bytes.baseAddress.map {
        unsafe keytree_openat(descriptor, $0.assumingMemoryBound(to: CChar.self), flags, 0)
      }
    }
    guard let child, child >= 0 else { return nil }
    return FolderHandle(owning: child, path: "\(path)/\(String(decoding: name.dropLast(), as: UTF8.self))")
  }

  /// Returns the names in this folder as bytes, in the order of the system.
  package func nameBytes() throws(FileError) -> [[UInt8]] {
    do {
      return try FolderNames.list(descriptor)
    } catch {
      throw FileError("read", path, .system(error.errno))
    }
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
