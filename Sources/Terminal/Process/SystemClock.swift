package import Encoding
internal import Glibc

/// The clock of the machine.
package enum SystemClock {
  /// Returns the current time; `clock_gettime(2)` with `CLOCK_REALTIME`.
  @Sendable package static func now() -> Timestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
