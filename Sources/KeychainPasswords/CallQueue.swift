internal import Foundation
internal import Synchronization

/// A queue that runs blocking calls on its own threads, so that they do not block the threads of Swift's concurrency.
///
/// A dispatch queue would not help: on Linux it shares its threads with Swift's tasks. A thread is created when there
/// is work for it and ends when there is none.
final class CallQueue: Sendable {
  /// More than four calls at once do not make a file-based keychain faster. With four, others can run while one waits
  /// for the user.
  static let shared = CallQueue(width: 4)

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var threads = 0
  }

  private let width: Int
  private let state = Mutex(State())

  /// - Parameter width: The number of calls that run at once.
  init(width: Int) { self.width = width }

  /// Runs a body on one of the threads, after the bodies that were added earlier.
  func run(_ body: @escaping @Sendable () -> Void) {
    let isThreadNeeded = state.withLock { state in
      state.waiting.append(body)
      guard state.threads < width else { return false }
      state.threads += 1
      return true
    }
    if isThreadNeeded { Thread.detachNewThread { while let body = self.next() { body() } } }
  }

  /// Returns the next body; nil ends the calling thread.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.threads -= 1
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}

/// A call that waits for its turn in a queue, until it begins or its task is cancelled.
final class PendingCall<Value: Sendable>: Sendable {
  typealias Answer = CheckedContinuation<Result<Value, KeychainError>, Never>

  private enum State {
    case new
    case waiting(Answer)
    case over
  }

  private let state = Mutex(State.new)

  /// Starts to wait; resumes immediately if the task was cancelled.
  func wait(_ answer: Answer) {
    let isCancelled = state.withLock { state in
      guard case .new = state else { return true }
      state = .waiting(answer)
      return false
    }
    if isCancelled { answer.resume(returning: .failure(.taskCancelled)) }
  }

  /// Marks the call as begun and returns its continuation; nil if the continuation was already resumed.
  func begin() -> Answer? {
    state.withLock { state in
      guard case .waiting(let answer) = state else { return nil }
      state = .over
      return answer
    }
  }

  /// Resumes with `taskCancelled`, unless the call has begun.
  func cancel() {
    let answer: Answer? = state.withLock { state in
      defer { state = .over }
      guard case .waiting(let answer) = state else { return nil }
      return answer
    }
    answer?.resume(returning: .failure(.taskCancelled))
  }
}

extension CallQueue {
  /// Runs a body on one of the threads and waits for it without blocking a thread.
  ///
  /// - Throws: The error of `body`; `taskCancelled` if the task was cancelled before the body began.
  func call<Value: Sendable>(
    _ body: @escaping @Sendable () throws(KeychainError) -> Value
  ) async throws(KeychainError) -> Value {
    let call = PendingCall<Value>()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        call.wait(answer)
        run { call.begin()?.resume(returning: Result(catching: body)) }
      }
    } onCancel: {
      call.cancel()
    }
    return try result.get()
  }
}
