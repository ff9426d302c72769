internal import Git
internal import Synchronization

/// Asks git for the committer's identity on another thread while the change to commit is still being made.
///
/// If the answer is not needed after all, git may still run when the last reference is released.
final class IdentityRequest: Sendable {
  private struct State: Sendable {
    var thread: WorkerThread?
    var answer: Identity?
  }

  private let state = Mutex(State())
  private let ask: @Sendable () throws -> Identity

  /// Starts the request.
  ///
  /// - Parameters:
  ///   - git: Git in the repository.
  ///   - fallback: As for ``Identity/init(in:fallback:)``.
  init(in git: Git, fallback: @escaping @Sendable () -> String?) {
    ask = { try Identity(in: git, fallback: fallback()) }
    let thread = WorkerThread { [self] in answer() }
    state.withLock { $0.thread = thread }
  }

  // `identity()` may not have been called. This does not join, because the last reference may be that of the thread.
  deinit { state.withLock { $0.thread }?.detach() }

  /// Waits for the answer and returns it.
  ///
  /// - Throws: The errors of ``Identity/init(in:fallback:)``.
  func identity() throws -> Identity {
    let thread = state.withLock { state in
      defer { state.thread = nil }
      return state.thread
    }
    thread?.join()
    if let answer = state.withLock({ $0.answer }) { return answer }
    // The thread could not be started, or git failed. Another attempt may succeed.
    return try ask()
  }

  private func answer() {
    // The error is ignored here, because `identity()` asks again and throws it.
    let answer = try? ask()
    state.withLock { $0.answer = answer }
  }
}
