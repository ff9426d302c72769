internal import Synchronization

/// The progress bar of work in several passes or on several threads.
///
/// A bar is created when the first step of a pass is done, because only then the number of steps is known.
package final class WorkProgress: Sendable {
  // The console is used by one thread at a time: the command that owns it waits for the work, and the working threads
  // use it only under this lock.
  private struct State: @unchecked Sendable {
    let console: Console
    var bar: ProgressBar?
    var total = 0
    var done = 0
  }

  private let state: Mutex<State>
  private let label: String

  /// Creates progress that has not begun.
  ///
  /// - Parameters:
  ///   - label: the name of the work: one word.
  ///   - total: the number of steps, if it is known at the beginning.
  ///   - console: the console on which the bar is drawn.
  package init(_ label: String, total: Int = 0, console: Console) {
    self.label = label
    var state = State(console: console)
    if total > 0 {
      state.total = total
      state.bar = ProgressBar(label, total: total, console: console)
    }
    self.state = Mutex(state)
  }

  /// Records that one more step is done. Any thread may call it.
  package func step() {
    state.withLock { state in
      state.done += 1
      state.bar?.advance(to: state.done)
    }
  }

  /// Records the number of completed steps. A different total begins another pass.
  package func advance(to done: Int, of total: Int) {
    state.withLock { state in
      if total != state.total || done < state.done {
        state.bar?.finish()
        state.bar = ProgressBar(label, total: total, console: state.console)
        state.total = total
      }
      state.done = done
      state.bar?.advance(to: done)
    }
  }

  /// Erases the bar.
  package func finish() { state.withLock { $0.bar?.finish() } }
}
