internal import Glibc

/// The clocks of the system that nobody can set.
///
/// Swift's `ContinuousClock` and `SuspendingClock` read the same clocks, but they link the runtime of Swift's
/// concurrency and libdispatch, which have to be initialized at every start of the program.
package enum SystemClock {
  /// The time since the machine was started, without the time in which it was suspended (`CLOCK_MONOTONIC`).
  package static var awake: Duration { read(CLOCK_MONOTONIC) }

  /// The time since the machine was started (`CLOCK_BOOTTIME`).
  package static var elapsed: Duration { read(CLOCK_BOOTTIME) }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    // Fails only for an unknown clock.
    _ = unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
