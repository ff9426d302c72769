internal import Glibc

/// The clocks by which it is judged what stamps of files are worth; a test hands in its own.
package struct FileClock: Sendable {
  /// Nanoseconds since 1970, by the clock from which file systems take their times.
  package var now: @Sendable () -> Int64 = { Self.read(CLOCK_REALTIME) }
  /// Nanoseconds since some moment, never set back, also counted while the machine sleeps.
  package var elapsed: @Sendable () -> Int64 = { Self.read(CLOCK_BOOTTIME) }
  /// How many nanoseconds the file system's clock stands still; more than 1 in tests only, because newer kernels
  /// have clocks that are too good to show what older ones do.
  package var tick: Int64 = 1

  package init() {}

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
