internal import CSystem
internal import Glibc

/// A password store as files, read without following a single link below its top folder.
package struct PassTree: ~Copyable {
  private let root: Int32
  private let rootPath: [UInt8]

  /// The most folders inside each other.
  package static let depthLimit = 64
  /// The most files.
  package static let countLimit = 200_000
  /// The largest file of an item: 1 MiB of secret, armored, with many recipients.
  package static let fileLimit = 4 << 20

  /// Opens a store.
  ///
  /// - Parameter path: Its top folder. This one may be a link: it is what the caller named.
  /// - Throws: `failed` when it is no folder or cannot be opened.
  package init(path: String) throws(PassTreeError) {
    root = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard root >= 0 else { throw .failed(path: [], errno: errno) }
    rootPath = Array(path.utf8)
  }

  deinit { _ = close(root) }

  /// Whether the top folder says whom to encrypt to, as `pass init` leaves it.
  package borrowing func isPasswordStore() -> Bool {
    var status = stat()
    return unsafe fstatat(root, ".gpg-id", &status, 0) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Lists everything in the store. Nothing is decrypted.
  ///
  /// - Returns: The items, and what else is there.
  /// - Throws: `failed` when a folder cannot be read, `tooDeep`, `tooMany`.
  package borrowing func scan() throws(PassTreeError) -> PassListing {
    var scan = PassScan()
    try scan.walk(root, [])
    return scan.finish(rootPath: rootPath)
  }

  /// Reads the file of an item.
  ///
  /// - Parameter entry: What `scan` found.
  /// - Returns: Its bytes, which are not decrypted.
  /// - Throws: `failed`, `tooLarge`, and `notAFile` when it became something else meanwhile.
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

  /// openat(2) for a name given as bytes.
  static func open(_ folder: Int32, _ name: [UInt8], _ flags: Int32) -> Int32 {
    unsafe name.withTerminator { unsafe keytree_openat(folder, $0, flags, 0) }
  }
}

extension [UInt8] {
  /// Lends the bytes as a C string; they hold no NUL, as no name of a file does.
  func withTerminator<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
    unsafe (map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("there is at least the NUL") }
      return unsafe body(start)
    }
  }
}
