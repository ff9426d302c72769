internal import CSystem
internal import Glibc

/// A watch that reports the signals that would otherwise end this process, so that it can clean up first.
///
/// A mask of blocked signals outlives `execve(2)`, so the parent process may have blocked them unintentionally. This
/// thread unblocks them while the watch lasts.
package struct SignalWatch {
  /// The reported signals; the same as in `keytree_signals_watch`.
  package static let signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD]

  /// The error if no descriptors are left, or another watch is active.
  package struct Unavailable: Error { let errno: Int32 }

  /// The descriptor that becomes readable when a signal has arrived.
  package let descriptor: Int32
  private let writeEnd: Int32
  private let oldMask: sigset_t

  /// Starts to watch. Until `stop`, a watched signal does not end this process.
  ///
  /// - Parameter patience: The number of hundredths of a second to wait while another thread of this process watches.
  /// - Throws: `Unavailable` with `EBUSY` if that thread does not stop, or with the error of the system.
  package init(patience: Int = 0) throws(Unavailable) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw Unavailable(errno: errno) }
    (descriptor, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    var problem = keytree_signals_watch(writeEnd) == 0 ? 0 : errno
    for _ in 0..<patience where problem == EBUSY {
      usleep(10_000)
      problem = keytree_signals_watch(writeEnd) == 0 ? 0 : errno
    }
    guard problem == 0 else {
      close(descriptor)
      close(writeEnd)
      throw Unavailable(errno: problem)
    }
    var (wanted, old) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&wanted)
    for signal in Self.signals { unsafe sigaddset(&wanted, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &wanted, &old)
    oldMask = old
  }

  /// Returns the numbers of the signals that have arrived since the last call.
  package func take() -> [Int32] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return bytes.prefix(max(count, 0)).map { Int32($0) }
  }

  /// Runs code that asks the user a question. The code polls `descriptor`, because a signal may end the question.
  func duringQuestion<R>(_ body: () -> R) -> R {
    // The end of a child process must not end the question.
    var (ignored, watched) = (sigaction(), sigaction())
    unsafe sigaction(SIGCHLD, &ignored, &watched)
    defer { unsafe sigaction(SIGCHLD, &watched, nil) }
    return body()
  }

  /// Ends the watch. Call it once, after the cleanup, on the thread that started it.
  package func stop() {
    // Restore the mask first: a signal that was blocked before must not trigger the old action while it is unblocked.
    var old = oldMask
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
    keytree_signals_restore()
    close(descriptor)
    close(writeEnd)
  }
}
