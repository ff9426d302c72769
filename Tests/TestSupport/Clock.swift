package import Encoding
internal import KeyringModel
internal import Synchronization

/// A clock that advances on every read, so that times differ and tests are repeatable.
package final class Clock: Sendable {
  private let microseconds: Mutex<Int64>

  /// - Parameter start: The time before the first reading, in microseconds since 1970.
  package init(start: Int64 = 1_790_000_000_000_000) { microseconds = Mutex(start) }

  /// Returns the next time.
  @Sendable package func now() -> Timestamp {
    Timestamp(
      microseconds: microseconds.withLock { value in
        value += 1
        return value
      })
  }
}
