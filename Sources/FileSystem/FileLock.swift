internal import Glibc

/// Takes locks of `flock(2)`. The kernel releases a lock when the process ends for any reason.
package enum FileLock {
  /// The kind of lock: several processes can hold a shared lock at the same time.
  package enum Mode: Sendable { case shared, exclusive }

  /// Takes a lock, or changes the mode of the lock that is held. A change releases the old lock first, so two processes
  /// that change from shared to exclusive do not block each other.
  ///
  /// - Parameters:
  ///   - descriptor: The open file.
  ///   - mode: Shared or exclusive.
  ///   - seconds: The time to wait for other processes.
  /// - Returns: 0 if the lock was taken; otherwise the value of `errno`: `EWOULDBLOCK` if other processes still hold
  ///   it.
  package static func take(_ descriptor: Int32, _ mode: Mode, within seconds: Double) -> Int32 {
    var waited = 0.0
    var pause = 0.001
    while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { return code }
      guard waited < seconds else { return EWOULDBLOCK }
      // Random, so that waiting processes do not collide repeatedly.
      let nap = pause * Double.random(in: 0.5...1.5)
      usleep(UInt32(nap * 1_000_000))
      waited += nap
      pause = min(pause * 1.5, 0.005)
    }
    return 0
  }

  /// Releases the lock of a file and closes the file.
  ///
  /// Closing alone is not enough. A program that another thread is starting has a copy of every descriptor until it
  /// calls `execve(2)`, and a lock of `flock(2)` lasts until all copies are closed.
  ///
  /// - Parameter descriptor: The open file, locked or not.
  package static func release(_ descriptor: Int32) {
    // Fails only for a descriptor that is not open.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
