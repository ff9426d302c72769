internal import CSystem
internal import Glibc

/// The files of a password store, read without following any link below its top folder.
package struct PassTree: ~Copyable {
  private let root: Int32
  private let rootPath: [UInt8]

  /// The largest depth of folders.
  package static let depthLimit = 64
  /// The largest number of files.
  package static let countLimit = 200_000
  /// The size of the largest file of an item: 1 MiB of secret, armored, with many recipients.
  package static let fileLimit = 4 << 20

  /// Opens a store.
  ///
  /// - Parameter path: its top folder, which may be a link, because the caller named it.
  /// - Throws: `failed` if it is not a folder or cannot be opened.
  package init(path: String) throws(PassTreeError) {
    root = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard root >= 0 else { throw .failed(path: [], errno: errno) }
    rootPath = Array(path.utf8)
  }

  deinit { _ = close(root) }

  /// Returns true if the top folder contains a list of recipients, which `pass init` creates.
  package borrowing func isPasswordStore() -> Bool {
    var status = stat()
    return unsafe fstatat(root, ".gpg-id", &status, 0) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Lists everything in the store. Nothing is decrypted.
  ///
  /// - Returns: the items, and everything else in the store.
  /// - Throws: `failed` if a folder cannot be read, `tooDeep`, `tooMany`.
  package borrowing func scan() throws(PassTreeError) -> PassListing {
    var scan = PassScan()
    try scan.walk(root, [])
    return scan.finish(rootPath: rootPath)
  }

  /// Reads the file of an item.
  ///
  /// - Parameter entry: an entry that `scan` returned.
  /// - Returns: its encrypted bytes.
  /// - Throws: `failed`, `tooLarge`, and `notAFile` if it is no longer a regular file.
  package borrowing func ciphertext(of entry: PassEntry) throws(PassTreeError) -> [UInt8] {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    var folder = root
    defer { if folder != root { _ = close(folder) } }
    for component in entry.components.dropLast() {
      let next = PassTree.open(folder, component, flags | O_DIRECTORY)
      guard next >= 0 else { throw .failed(path: entry.path, errno: errno) }
      if folder != root { _ = close(folder) }
      folder = next
    }
    let name = (entry.components.last ?? []) + PassScan.suffix
    let file = PassTree.open(folder, name, flags)
    guard file >= 0 else { throw .failed(path: entry.path, errno: errno) }
    defer { _ = close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .failed(path: entry.path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: entry.path) }
    return try PassTree.read(file, entry.path)
  }

  private static func read(_ file: Int32, _ path: [UInt8]) throws(PassTreeError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let got = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
      if got < 0 {
        if errno == EINTR { continue }
        throw .failed(path: path, errno: errno)
      }
      if got == 0 { return bytes }
      bytes += chunk[..<got]
      if bytes.count > fileLimit { throw .tooLarge(path: path, limit: fileLimit) }
    }
  }

  /// Calls openat(2) with a name given as bytes.
  package static func open(_ folder: Int32, _ name: [UInt8], _ flags: Int32) -> Int32 {
    unsafe name.withTerminator { unsafe keytree_openat(folder, $0, flags, 0) }
  }
}

extension [UInt8] {
  /// Calls `body` with the bytes as a C string. They contain no NUL, like every file name.
  package func withTerminator<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
    unsafe (map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("the buffer contains a NUL") }
      return unsafe body(start)
    }
  }
}
