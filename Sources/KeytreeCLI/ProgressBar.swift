internal import Glibc

/// One line on standard error that shows how far long work is; only for a person, and gone at the end.
///
///     import  [############............]  612 of 1000  0:14 left
///
/// Drawn at most ten times a second, and not before the work has taken a moment, so that short work does not
/// flicker. Redrawn with a carriage return and spaces: no escape sequence is needed.
package final class ProgressBar {
  private let console: Console
  private let label: String
  private let total: Int
  private let now: () -> Duration
  private let start: Duration
  private var lastDrawn: Duration?
  private var drawnWidth = 0

  /// The time before the first drawing.
  static let patience = Duration.milliseconds(300)
  /// The time between two drawings.
  static let interval = Duration.milliseconds(100)

  /// A bar that has not been drawn.
  ///
  /// - Parameters:
  ///   - label: what is being done: one word.
  ///   - total: how many steps there are.
  ///   - console: where it is drawn, if a person looks at its talk and it is not quiet.
  ///   - now: the time since any fixed moment; it never goes backwards.
  package init(
    _ label: String, total: Int, console: Console, now: @escaping () -> Duration = ProgressBar.monotonicTime
  ) {
    self.label = label
    self.total = max(total, 1)
    self.console = console
    self.now = now
    start = now()
  }

  /// Shows that some steps are done.
  package func advance(to done: Int) {
    guard console.talkIsTerminal, !console.isQuiet else { return }
    let time = now()
    guard time - start >= Self.patience else { return }
    if let lastDrawn, time - lastDrawn < Self.interval { return }
    lastDrawn = time
    draw(done: min(done, total), after: time - start)
  }

  /// Takes the line away.
  package func finish() {
    guard drawnWidth > 0 else { return }
    console.writeTalk("\r" + String(repeating: " ", count: drawnWidth) + "\r")
    drawnWidth = 0
  }

  private func draw(done: Int, after elapsed: Duration) {
    var counts = "  \(done) of \(total)"
    if let left = remaining(done: done, after: elapsed) { counts += "  \(left) left" }
    // One column stays free: writing into the last one makes some terminals wrap.
    let room = console.talkWidth - 1 - label.count - counts.count - 4
    var line = label
    if room >= 10 {
      let width = min(room, 40)
      let filled = width * done / total
      line += "  [" + String(repeating: "#", count: filled)
      line += String(repeating: ".", count: width - filled) + "]"
    }
    line += counts
    line = String(line.prefix(max(console.talkWidth - 1, 0)))
    let rest = String(repeating: " ", count: max(0, drawnWidth - line.count))
    drawnWidth = max(drawnWidth, line.count)
    console.writeTalk("\r" + line + rest)
  }

  /// The time left if the rest goes as the part done: `0:14`, `1:02:33`.
  private func remaining(done: Int, after elapsed: Duration) -> String? {
    guard done > 0, done < total else { return nil }
    let seconds = (elapsed / done * (total - done)).components.seconds
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    let pair = { (number: Int64) in (number < 10 ? "0" : "") + String(number) }
    let tail = pair(seconds % 60)
    return hours > 0 ? "\(hours):\(pair(minutes)):\(tail)" : "\(minutes):\(tail)"
  }

  /// The time since the machine was started; `clock_gettime(2)` with `CLOCK_MONOTONIC`.
  package static func monotonicTime() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
