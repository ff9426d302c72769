internal import Clocks
internal import Glibc

/// A line on standard error that shows the progress of long work. It appears only on a terminal and is erased at the
/// end.
///
///     import  [############............]  612 of 1000  0:14 left
///
/// It is drawn at most ten times a second, and not before `patience` has passed, so that short work does not flicker.
/// It is redrawn with a carriage return and spaces: no escape sequence is needed.
package final class ProgressBar {
  private let console: Console
  private let label: String
  private let total: Int
  private let now: () -> Duration
  private let start: Duration
  private var lastDrawn: Duration?
  private var drawnWidth = 0

  /// The time before the bar is first drawn.
  static let patience = Duration.milliseconds(300)
  /// The time between two drawings.
  static let interval = Duration.milliseconds(100)

  /// Creates a bar that has not been drawn.
  ///
  /// - Parameters:
  ///   - label: the name of the work: one word.
  ///   - total: the number of steps.
  ///   - console: the console to draw on, if its diagnostics go to a terminal and it is not quiet.
  ///   - now: the time since any fixed moment; it never goes backwards.
  package init(
    _ label: String, total: Int, console: Console, now: @escaping () -> Duration = { SystemClock.awake }
  ) {
    self.label = label
    self.total = max(total, 1)
    self.console = console
    self.now = now
    start = now()
  }

  /// Shows that a number of steps are done.
  package func advance(to done: Int) {
    guard console.diagnosticsIsTerminal, !console.isQuiet else { return }
    let time = now()
    guard time - start >= Self.patience else { return }
    if let lastDrawn, time - lastDrawn < Self.interval { return }
    lastDrawn = time
    draw(done: min(done, total), after: time - start)
  }

  /// Erases the line.
  package func finish() {
    guard drawnWidth > 0 else { return }
    console.writeDiagnostics("\r\(String(repeating: " ", count: drawnWidth))\r")
    drawnWidth = 0
  }

  private func draw(done: Int, after elapsed: Duration) {
    var counts = "  \(done) of \(total)"
    if let left = remaining(done: done, after: elapsed) { counts += "  \(left) left" }
    // One column stays free, because writing into the last one makes some terminals wrap.
    let room = console.diagnosticsWidth - 1 - label.count - counts.count - 4
    var line = label
    if room >= 10 {
      let width = min(room, 40)
      let filled = width * done / total
      line += "  [" + String(repeating: "#", count: filled)
      line += String(repeating: ".", count: width - filled) + "]"
    }
    line += counts
    line = String(line.prefix(max(console.diagnosticsWidth - 1, 0)))
    let rest = String(repeating: " ", count: max(0, drawnWidth - line.count))
    drawnWidth = max(drawnWidth, line.count)
    console.writeDiagnostics("\r\(line + rest)")
  }

  /// Returns the time left if the rest proceeds at the same speed: `0:14`, `1:02:33`.
  private func remaining(done: Int, after elapsed: Duration) -> String? {
    guard done > 0, done < total else { return nil }
    let seconds = (elapsed / done * (total - done)).components.seconds
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    let pair = { (number: Int64) in (number < 10 ? "0" : "") + String(number) }
    let tail = pair(seconds % 60)
    return hours > 0 ? "\(hours):\(pair(minutes)):\(tail)" : "\(minutes):\(tail)"
  }
}
