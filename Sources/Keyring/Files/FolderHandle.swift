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
    let copy = unsafe keytree_openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard copy >= 0 else { throw .current("open", path) }
    guard let stream = unsafe fdopendir(copy) else {
      close(copy)
      throw .current("open", path)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw .current("read", path) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
