internal import Glibc

/// A folder for one test, removed with everything in it when the test ends.
///
/// On tmpfs where there is one: thousands of `fsync` calls then cost nothing.
package final class ScratchFolder: Sendable {
  /// The folder's absolute path; short, because sockets may lie below it.
  package let path: String

  /// Makes the folder.
  package init() {
    let base = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var path: String?
    while path == nil {
      let name = "\(base)/kt-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
      if unsafe mkdir(name, 0o700) == 0 { path = name }
      precondition(path != nil || errno == EEXIST, "a scratch folder can be made below \(base)")
    }
    self.path = path ?? base
  }

  deinit { Self.remove(path) }

  /// Removes a folder and what is in it; links are removed, never followed.
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
