internal import Glibc

/// The clocks that file stamps are compared with. Tests can replace them.
package struct FileClock: Sendable {
  /// Returns nanoseconds since 1970, from the clock that file systems use for their timestamps.
  package var now: @Sendable () -> Int64 = { Self.read(CLOCK_REALTIME) }
  /// Returns nanoseconds since an arbitrary moment. The clock never runs backwards, and it includes the time in which
  /// the machine is suspended.
  package var elapsed: @Sendable () -> Int64 = { Self.read(CLOCK_BOOTTIME) }
  /// The resolution of the file system's clock in nanoseconds. Larger than 1 only in tests, to reproduce the coarse
  /// clocks of older kernels.
  package var tick: Int64 = 1

  package init() {}

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
