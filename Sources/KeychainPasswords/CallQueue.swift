internal import Foundation
internal import Synchronization

/// Runs calls that block on threads of its own, so that they hold none of Swift's.
///
/// A queue of Dispatch would not do: on Linux it shares its threads with the tasks of Swift. A thread is made when
/// there is work for it and ends when there is none.
final class CallQueue: Sendable {
  /// Four at once are as many as make a keychain of files faster, and leave room while one asks a person.
  static let shared = CallQueue(width: 4)

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var threads = 0
  }

  private let width: Int
  private let state = Mutex(State())

  /// - Parameter width: How many calls run at once.
  init(width: Int) { self.width = width }

  /// Runs a body on one of the threads, after those that were handed in before.
  func run(_ body: @escaping @Sendable () -> Void) {
    let isThreadNeeded = state.withLock { state in
      state.waiting.append(body)
      guard state.threads < width else { return false }
      state.threads += 1
      return true
    }
    if isThreadNeeded { Thread.detachNewThread { while let body = self.next() { body() } } }
  }

  /// The next body; nil ends the thread that asks.
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
final class WaitingCall<Value: Sendable>: Sendable {
  typealias Answer = CheckedContinuation<Result<Value, KeychainError>, Never>

  private enum State {
    case new
    case waiting(Answer)
    case over
  }

  private let state = Mutex(State.new)

  /// Waits from now on; answers at once when the task was cancelled.
  func wait(_ answer: Answer) {
    let isCancelled = state.withLock { state in
      guard case .new = state else { return true }
      state = .waiting(answer)
      return false
    }
    if isCancelled { answer.resume(returning: .failure(.taskCancelled)) }
  }

  /// Begins; nil when there is nobody to answer any more.
  func begin() -> Answer? {
    state.withLock { state in
      guard case .waiting(let answer) = state else { return nil }
      state = .over
      return answer
    }
  }

  /// Answers that the task was cancelled, unless the call has begun.
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
  /// Runs a body on one of the threads and waits for it without holding a thread.
  ///
  /// - Throws: What `body` throws; `taskCancelled` when the task was cancelled before the body began.
  func call<Value: Sendable>(
    _ body: @escaping @Sendable () throws(KeychainError) -> Value
  ) async throws(KeychainError) -> Value {
    let call = WaitingCall<Value>()
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
