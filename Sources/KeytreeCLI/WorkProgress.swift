internal import Synchronization

/// The progress bar of work that is done in several passes, or on several threads.
///
/// A bar is made when the first step of a pass is done, because only then it is known how many there are.
package final class WorkProgress: Sendable {
  // The console is used by one thread at a time: the command that has it waits for the work, and the threads
  // that do the work talk under this lock alone.
  private struct State: @unchecked Sendable {
    let console: Console
    var bar: ProgressBar?
    var total = 0
    var done = 0
  }

  private let state: Mutex<State>
  private let label: String

  /// Progress that has not begun.
  ///
  /// - Parameters:
  ///   - label: what is being done: one word.
  ///   - total: how many steps there are, when that is known at the beginning.
  ///   - console: where the bar is drawn.
  package init(_ label: String, total: Int = 0, console: Console) {
    self.label = label
    var state = State(console: console)
    if total > 0 {
      state.total = total
      state.bar = ProgressBar(label, total: total, console: console)
    }
    self.state = Mutex(state)
  }

  /// One more step is done; from any thread.
  package func step() {
    state.withLock { state in
      state.done += 1
      state.bar?.advance(to: state.done)
    }
  }

  /// So many of so many steps are done; a total that differs begins another pass.
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

  /// Takes the bar away.
  package func finish() { state.withLock { $0.bar?.finish() } }
}
