internal import Glibc

/// Waiting for a lock of `flock(2)`, which the kernel lets go of when the process ends, however it ends.
package enum FileLock {
  /// Whether others may hold the same lock at the same time.
  package enum Mode: Sendable { case shared, exclusive }

  /// Takes a lock, or changes the one that is held. A change lets go of the old one first, so two processes that
  /// both want to go from shared to exclusive do not block each other.
  ///
  /// - Parameters:
  ///   - descriptor: The open file.
  ///   - mode: Which lock.
  ///   - seconds: How long to wait for others.
  /// - Returns: 0 when it was taken, else the value of `errno`: `EWOULDBLOCK` when others kept it.
  package static func take(_ descriptor: Int32, _ mode: Mode, within seconds: Double) -> Int32 {
    var waited = 0.0
    var pause = 0.001
    while flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR else { return code }
      guard waited < seconds else { return EWOULDBLOCK }
      // Different for each process, so that several that wait do not meet again and again.
      let nap = pause * Double.random(in: 0.5...1.5)
      usleep(UInt32(nap * 1_000_000))
      waited += nap
      pause = min(pause * 1.5, 0.005)
    }
    return 0
  }
}
