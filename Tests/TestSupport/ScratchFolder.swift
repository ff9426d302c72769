internal import Glibc

/// A folder for one test, which is removed with its content when the test ends.
///
/// It is on tmpfs if possible, where thousands of `fsync` calls cost nothing.
package final class ScratchFolder: Sendable {
  /// The absolute path of the folder. It is short, because sockets may be below it.
  package let path: String

  /// Creates the folder.
  package init() {
    let base = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var path: String?
    while path == nil {
      let name = "\(base)/kt-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
      if unsafe mkdir(name, 0o700) == 0 { path = name }
      precondition(path != nil || errno == EEXIST, "cannot create a scratch folder below \(base)")
    }
    self.path = path ?? base
  }

  deinit { Self.remove(path) }

  /// Removes a folder and its content. Links are removed, never followed.
  package static func remove(_ path: String) {
    if let stream = unsafe opendir(path) {
      while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name == "." || name == ".." { continue }
        var info = stat()
        let child = "\(path)/\(name)"
        if unsafe lstat(child, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR {
          remove(child)
        } else {
          unsafe unlink(child)
        }
      }
      unsafe closedir(stream)
    }
    unsafe rmdir(path)
  }
}
