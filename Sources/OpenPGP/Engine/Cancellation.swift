internal import Synchronization

/// Ends a call that waits for the user, from another thread.
package final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Creates a cancellation that can be used for one call.
  package init() {}

  /// True if the call was cancelled.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends the call. It then fails with the error `cancelled`.
  package func cancel() {
    let action = state.withLock { state in
      state.isCancelled = true
      return state.action
    }
    action?()
  }

  /// Sets the action that ends the call in its current state. If it was cancelled before, the action is run now.
  ///
  /// - Parameter action: The action; nil if the call cannot be ended any more. Any thread may run it.
  package func whenCancelled(_ action: (@Sendable () -> Void)?) {
    let isLate = state.withLock { state in
      state.action = action
      return state.isCancelled
    }
    if isLate { action?() }
  }
}
