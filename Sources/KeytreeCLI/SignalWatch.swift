internal import CSystem
internal import Glibc

/// The signals that would end this process, reported instead, until what was begun is cleaned up.
///
/// A mask of blocked signals outlives `execve(2)`, so whoever started this process may have blocked them without
/// meaning it. They are let through on this thread for as long as the watch lasts.
struct SignalWatch {
  /// The signals that are reported; those of `keytree_signals_watch`.
  static let signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD]

  /// No watch is possible: no descriptors are left, or another watch is on.
  struct Unavailable: Error { let errno: Int32 }

  /// Becomes readable when a signal came.
  let descriptor: Int32
  private let writeEnd: Int32
  private let oldMask: sigset_t

  /// Starts to watch. From now to `stop` a watched signal does not end this process.
  init() throws(Unavailable) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw Unavailable(errno: errno) }
    (descriptor, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    guard keytree_signals_watch(writeEnd) == 0 else {
      let problem = errno
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

  /// The numbers of the signals that came since the last look.
  func take() -> [Int32] {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return bytes.prefix(max(count, 0)).map { Int32($0) }
  }

  /// Runs a question that a signal may end, with `descriptor` to watch meanwhile.
  func duringQuestion<R>(_ body: () -> R) -> R {
    // The end of a child means nothing to the person who is asked.
    var (ignored, watched) = (sigaction(), sigaction())
    unsafe sigaction(SIGCHLD, &ignored, &watched)
    defer { unsafe sigaction(SIGCHLD, &watched, nil) }
    return body()
  }

  /// Ends the watch. To be called once, on the thread that began it, after the cleaning up.
  func stop() {
    // The mask first: a signal that was blocked before must not find the old action while it is let through.
    var old = oldMask
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
    keytree_signals_restore()
    close(descriptor)
    close(writeEnd)
  }
}
