internal import Glibc
internal import OpenPGP

/// An open folder from which several files are read.
package struct FolderHandle: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Reads a regular file of this folder into `buffer`, replacing its content; `false` when it is missing.
  ///
  /// - Throws: as `FileTree.read(_:limit:)`.
  package func read(_ name: String, into buffer: inout [UInt8], limit: Int) throws(FileError) -> Bool {
    do {
      try FileReading.read(name, in: descriptor, path: "\(path)/\(name)", limit: limit, into: &buffer)
      return true
    } catch {
      if error.isMissing { return false }
      throw error
    }
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
