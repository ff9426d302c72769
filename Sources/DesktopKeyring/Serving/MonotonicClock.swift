internal import Glibc

/// The time since the machine was started, which no one can set.
package enum MonotonicClock {
  /// The current time (`CLOCK_MONOTONIC`).
  package static var now: Duration {
    var time = timespec()
    // Fails only for an unknown clock.
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

extension Duration {
  /// The time in milliseconds, rounded up, as `poll(2)` needs it.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 1_000_000 else { return .max }
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
