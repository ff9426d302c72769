internal import CSystem
internal import Glibc

/// The few file operations that the benchmarks themselves need.
enum Files {
  /// Makes a folder that only the user can access, unless it exists.
  static func makeFolder(_ path: String) throws(BenchmarkError) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .system(action: "make", path: path, errno: errno)
    }
  }

  /// Writes a whole file.
  static func write(_ bytes: [UInt8], to path: String) throws(BenchmarkError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(action: "write", path: path, errno: errno) }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw .system(action: "write", path: path, errno: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads a whole file; nil when it does not exist.
  static func read(_ path: String) throws(BenchmarkError) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 && errno == ENOENT { return nil }
    guard file >= 0 else { throw .system(action: "read", path: path, errno: errno) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      guard count >= 0 else { throw .system(action: "read", path: path, errno: errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Returns true if a path is that of an executable program.
  static func isProgram(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

  /// Returns true if a folder is in memory, where `fsync(2)` costs nothing.
  static func isInMemory(_ path: String) -> Bool {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return keytree_is_in_memory(folder) == 1
  }

  /// Returns the sorted names in a folder.
  static func names(in path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Returns the number of bytes of the files below a folder.
  static func size(of path: String) -> Int {
    var info = stat()
    guard unsafe lstat(path, &info) == 0 else { return 0 }
    if info.st_mode & S_IFMT == S_IFREG { return info.st_size }
    return names(in: path).reduce(0) { $0 + size(of: "\(path)/\($1)") }
  }

  /// Removes a folder with everything in it, without following links.
  static func remove(_ path: String) {
    for name in names(in: path) {
      let child = "\(path)/\(name)"
      var info = stat()
      if unsafe lstat(child, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR {
        remove(child)
      } else {
        unsafe unlink(child)
      }
    }
    unsafe rmdir(path)
  }
}
