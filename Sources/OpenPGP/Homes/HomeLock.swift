internal import FileSystem
internal import Glibc

/// The lock of an engine home: shared while the home is in use or made, exclusive while it is removed. The kernel
/// releases it when the process ends, for any reason.
final class HomeLock: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Opens the lock file of a home, and creates it if it is missing. Does not take the lock.
  ///
  /// - Parameter home: The folder.
  /// - Throws: `unsafeEngine` when the file cannot be opened.
  convenience init(home: String) throws(EngineError) { try self.init(path: home + "/lock") }

  /// Opens a separate lock file, and creates it if it is missing. Does not take the lock.
  ///
  /// - Parameter path: The file.
  /// - Throws: `unsafeEngine` when the file cannot be opened.
  init(path: String) throws(EngineError) {
    self.path = path
    descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw .unsafeEngine(path: path, reason: PrivateFolder.reason(errno)) }
  }

  deinit { FileLock.release(descriptor) }

  /// Takes or changes the lock.
  ///
  /// - Parameters:
  ///   - mode: Shared or exclusive.
  ///   - seconds: The time to wait for other processes.
  /// - Returns: True if the lock was taken.
  func take(_ mode: FileLock.Mode, within seconds: Double) -> Bool {
    FileLock.take(descriptor, mode, within: seconds) == 0
  }

  /// True if the locked file is still the one in the folder. It is not if the home was removed while this process
  /// waited.
  var isCurrent: Bool {
    var mine = stat()
    var there = stat()
    guard unsafe fstat(descriptor, &mine) == 0, unsafe lstat(path, &there) == 0 else { return false }
    return mine.st_ino == there.st_ino && mine.st_dev == there.st_dev
  }
}
