internal import Glibc

/// A folder for one test, which is removed with its content when the test ends.
package final class ScratchFolder: Sendable {
  /// The folder for temporary folders: on tmpfs, where thousands of `fsync` calls cost nothing, if there is one that is
  /// large enough and runs programs. In a container, it may have 64 MiB and not run any.
  package static let base: String = {
    // ST_NOEXEC (statvfs(3)) is not part of the Glibc module.
    let noPrograms: UInt = 8
    var facts = statvfs()
    let isSuitable =
      unsafe access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &facts) == 0
      && facts.f_flag & noPrograms == 0 && facts.f_blocks * facts.f_frsize >= 1 << 30
    return isSuitable ? "/dev/shm" : "/tmp"
  }()

  /// The absolute path of the folder. It is short, because sockets may be below it.
  package let path: String

  /// Creates the folder.
  package init() {
    let base = Self.base
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
