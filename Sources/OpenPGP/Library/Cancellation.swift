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
    // The action runs under the mutex, so that it cannot run after the call has ended.
    state.withLock { state in
      state.isCancelled = true
      state.action?()
    }
  }

  /// Sets the action that ends the call in its current state. If it was cancelled before, the action is run now.
  ///
  /// - Parameter action: The action; nil if the call cannot be ended now. Any thread may run it. It must not use the
  ///   cancellation.
  package func whenCancelled(_ action: (@Sendable () -> Void)?) {
    state.withLock { state in
      state.action = action
      if state.isCancelled { action?() }
    }
  }
}

// gpg does not end when libgpgme cancels an operation, and the dialog would stay open. So the dialog itself is ended.
extension Cancellation {
  /// Ends a dialog when the call is cancelled.
  func dialogStarted(_ dialog: PinentryProcess) { whenCancelled { dialog.interrupt() } }
}
