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

// gpg does not end when libgpgme cancels an operation, and the dialog would stay open. So the dialog itself is ended, in
// the way in which gpg-agent ends it.
extension Cancellation {
  /// Ends a dialog when the call is cancelled, if an agent on this machine has started it.
  ///
  /// - Parameter arguments: The arguments of the status `PINENTRY_LAUNCHED` (doc/DETAILS of GnuPG), which start with the
  ///   process id.
  func dialogStarted(_ arguments: String) {
    guard let pinentry = PinentryProcess(launchStatus: arguments) else { return }
    whenCancelled { pinentry.end() }
  }
}
