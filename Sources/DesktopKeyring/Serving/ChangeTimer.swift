/// The time at which the store is compared with what the service knows, after its files have changed.
///
/// A change of a store touches several files, so the comparison waits until nothing has happened for a moment.
struct ChangeTimer {
  /// The time without further changes after which the comparison begins.
  static let quiet = Duration.milliseconds(250)
  /// The longest time between a change and the comparison.
  static let patience = Duration.seconds(2)
  /// The time between comparisons if changes are not reported.
  static let interval = Duration.seconds(5)

  private var first: Duration?
  private var last = Duration.zero
  private var compared: Duration
  /// True if changes are not reported, so that the comparison is made at intervals.
  var isPolling = false

  init(now: Duration) { compared = now }

  /// Notes that a file has changed.
  mutating func changed(at now: Duration) {
    if first == nil { first = now }
    last = now
  }

  /// The time of the next comparison; nil if none is needed.
  var due: Duration? {
    let change = first.map { min($0 + Self.patience, last + Self.quiet) }
    let poll = isPolling ? compared + Self.interval : nil
    return [change, poll].compactMap { $0 }.min()
  }

  /// Returns true if a comparison is due, and begins to wait for the next one.
  mutating func take(at now: Duration) -> Bool {
    guard let due, due <= now else { return false }
    first = nil
    compared = now
    return true
  }
}
