internal import Glibc
internal import OpenPGP

/// The exclusive lock for changing the history of a store. It is released at the end of the value's lifetime.
///
/// It is taken before the store's lock, never after it. The lock file contains a note of its holder, which remains if
/// the holder is killed.
package struct HistoryLock: ~Copyable {
  /// The operations that a lock permits.
  package enum Purpose: String, Sendable {
    /// Making commits and setting branches.
    case commits = "commit"
    /// Fetching, pushing, and changing the settings of the repository. Taken before `commits`.
    case synchronization = "sync"
  }

  /// A note that a holder has written.
  package struct Note: Sendable {
    package let bytes: [UInt8]
    /// The time at which it was written, in seconds and nanoseconds since 1970.
    package let written: [Int]
  }

  /// The note of the last holder; nil if it has removed its note, or if there was none.
  package let lastNote: Note?

  /// The note of this holder; nil if it has not written one.
  package var note: Note? { Self.note(in: descriptor) }

  private let tree: FileTree
  private let path: String
  private let descriptor: Int32

  /// The maximum number of bytes of a note that are read.
  private static let noteLimit = 1 << 16

  /// Waits for the lock and takes it.
  ///
  /// - Parameters:
  ///   - purpose: The purpose of the lock.
  ///   - tree: The folder of the store.
  ///   - timeout: The longest time to wait for another process, in seconds.
  /// - Throws: `KeyringError.busy` after that time, or a file error.
  package init(_ purpose: Purpose, in tree: FileTree, timeout: Double) throws(KeyringError) {
    let path = "\(StoreLayout.work)/\(purpose.rawValue).lock"
    let descriptor = try Self.acquire(path, in: tree, timeout: timeout)
    (self.tree, self.path, self.descriptor) = (tree, path, descriptor)
    lastNote = Self.note(in: descriptor)
  }

  private static func acquire(
    _ path: String, in tree: FileTree, timeout: Double
  ) throws(KeyringError) -> Int32 {
    let descriptor = try files(tree.openForLock(path))
    switch FileLock.take(descriptor, .exclusive, within: timeout) {
    case 0: return descriptor
    case EWOULDBLOCK:
      close(descriptor)
      throw .busy(holder: nil)
    case let code:
      close(descriptor)
      throw .file(FileError("lock", path, .system(code)))
    }
  }

  deinit { FileLock.release(descriptor) }

  private static func note(in descriptor: Int32) -> Note? {
    var facts = stat()
    guard unsafe fstat(descriptor, &facts) == 0, facts.st_size > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: noteLimit)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
    return Note(
      bytes: Array(bytes.prefix(max(0, count))), written: [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec])
  }

  /// Writes a note for the next holder, in case this one is killed. The note is flushed to disk, because git's locks can
  /// survive a power cut.
  ///
  /// - Throws: A file error.
  package func leaveNote(_ bytes: [UInt8]) throws(KeyringError) {
    try removeNote()
    try files { () throws(FileError) in
      try tree.write(bytes, to: descriptor, path: path)
      try tree.synchronize(descriptor, path: path)
    }
  }

  /// Removes the note.
  ///
  /// - Throws: A file error.
  package func removeNote() throws(KeyringError) {
    guard ftruncate(descriptor, 0) == 0 else { throw .file(.current("truncate", path)) }
  }
}
