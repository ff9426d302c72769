internal import Keyring
internal import Synchronization

/// Asks git who commits, on a thread of its own, while the change that is to be committed is still being made.
final class IdentityRequest: Sendable {
  private struct State: Sendable {
    var thread: WorkerThread?
    var answer: Identity?
  }

  private let state = Mutex(State())
  private let ask: @Sendable () throws -> Identity

  /// Starts to ask.
  ///
  /// - Parameters:
  ///   - git: Git in the repository.
  ///   - fallback: As for ``Identity/init(in:fallback:)``.
  init(in git: Git, fallback: @escaping @Sendable () -> String?) {
    ask = { try Identity(in: git, fallback: fallback()) }
    let thread = WorkerThread { [self] in answer() }
    state.withLock { $0.thread = thread }
  }

  /// The answer, for which this waits.
  ///
  /// - Throws: As ``Identity/init(in:fallback:)``.
  func identity() throws -> Identity {
    let thread = state.withLock { state in
      defer { state.thread = nil }
      return state.thread
    }
    thread?.join()
    if let answer = state.withLock({ $0.answer }) { return answer }
    // There was no thread, or git had no answer. It may have one now.
    return try ask()
  }

  private func answer() {
    // Whoever needs the answer asks again and gets the error.
    let answer = try? ask()
    state.withLock { $0.answer = answer }
  }
}
