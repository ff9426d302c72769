internal import Glibc
internal import OpenPGP

/// The exclusive lock of a store, held for the lifetime of the value.
///
/// Uses `flock(2)` on `.keytree/lock`, which the kernel releases when the process dies. The file also contains the
/// number of transactions applied so far, by which readers detect concurrent changes, and the process id of the last
/// holder, for the message of `busy`.
struct StoreLock: ~Copyable {
  private let tree: FileTree
  private let descriptor: Int32

  /// Takes the lock, waiting for at most `timeout` seconds.
  ///
  /// - Throws: `KeyringError.busy` with the holder's process id after that time, or a file error.
  init(_ tree: FileTree, timeout: Double) throws(KeyringError) {
    self.tree = tree
    descriptor = try Self.acquire(tree, timeout: timeout)
  }

  private static func acquire(_ tree: FileTree, timeout: Double) throws(KeyringError) -> Int32 {
    while true {
      let descriptor = try wait(tree, timeout: timeout)
      // The file may have been removed, and another process may have locked a new one.
      var info = stat()
      let isKnown = unsafe fstat(descriptor, &info) == 0
      if isKnown, try files(tree.status(StoreLayout.lock))?.identity == FileStatus(info).identity {
        return descriptor
      }
      FileLock.release(descriptor)
    }
  }

  private static func wait(_ tree: FileTree, timeout: Double) throws(KeyringError) -> Int32 {
    let descriptor = try files(tree.openForLock(StoreLayout.lock))
    let code = FileLock.take(descriptor, .exclusive, within: timeout)
    guard code == 0 else {
      let holder = LockRecord(reading: descriptor)?.holder
      close(descriptor)
      if code == EWOULDBLOCK { throw .busy(holder: holder) }
      throw .file(FileError("lock", StoreLayout.lock, .system(code)))
    }
    let count = LockRecord(reading: descriptor)?.count ?? 0
    do {
      try tree.write(LockRecord(count: count, holder: getpid()).bytes, to: descriptor, path: StoreLayout.lock)
    } catch {
      FileLock.release(descriptor)
      throw .file(error)
    }
    return descriptor
  }

  /// Returns the number of the next transaction and, in a store with a history, creates the file with that number. The
  /// caller flushes the folder before it commits the transaction.
  func numberTransaction() throws(FileError) -> UInt64 {
    let number = max(count, try TransactionCount.noted(in: tree)) &+ 1
    if try CommitJournal(of: tree).isKept { try TransactionCount.note(number, in: tree) }
    return number
  }

  /// Returns the number of an interrupted transaction that was already committed.
  func numberOfRecoveredTransaction() throws(FileError) -> UInt64 {
    max(count &+ 1, try TransactionCount.noted(in: tree))
  }

  /// Records the number of an applied transaction.
  func countTransaction(_ number: UInt64) throws(FileError) {
    try tree.write(
      LockRecord(count: number, holder: getpid()).bytes, to: descriptor, path: StoreLayout.lock)
    try TransactionCount.forget(before: number, in: tree)
  }

  /// The number of the last applied transaction according to the lock file.
  private var count: UInt64 { LockRecord(reading: descriptor)?.count ?? 0 }

  deinit { FileLock.release(descriptor) }
}

/// The content of the lock file: `<count> <process id>` and a line feed, with fixed widths, so that it can be
/// overwritten in place.
struct LockRecord: Equatable {
  var count: UInt64
  var holder: Int32

  init(count: UInt64, holder: Int32) {
    self.count = count
    self.holder = holder
  }

  init?(parsing bytes: some Sequence<UInt8>) {
    let fields = bytes.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
    guard fields.count == 2, let count = UInt64(String(decoding: fields[0], as: UTF8.self)),
      let holder = Int32(String(decoding: fields[1], as: UTF8.self))
    else { return nil }
    self.init(count: count, holder: holder)
  }

  /// Reads the record of an open lock file; `nil` if it has none yet.
  init?(reading descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: Self.width)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, Self.width, 0)
    }
    guard count == Self.width else { return nil }
    self.init(parsing: bytes)
  }

  static let width = 32

  var bytes: [UInt8] {
    func padded(_ text: String, _ width: Int) -> String {
      String(repeating: "0", count: width - text.utf8.count) + text
    }
    return Array("\(padded(String(count), 20)) \(padded(String(holder), 10))\n".utf8)
  }
}
