internal import Synchronization

/// Errors of other threads that wait for the thread that may report them.
package final class ErrorInbox: Sendable {
  private let errors = Mutex<[any Error]>([])

  /// Creates an empty inbox.
  package init() {}

  /// Adds an error. Any thread may call it.
  package func add(_ error: any Error) { errors.withLock { $0.append(error) } }

  /// Returns the errors since the last call.
  func take() -> [any Error] {
    errors.withLock { errors in
      defer { errors = [] }
      return errors
    }
  }
}
