import Dispatch
import Synchronization

/// Runs tasks on one thread. A task that blocks the thread stops all others.
final class OneThread: TaskExecutor {
  private let queue = DispatchQueue(label: "one thread")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Starts a task on this thread. An ordinary task would run on the threads that all tests share.
  func task<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
    Task(executorPreference: self) { await body() }
  }

  /// Runs a task and waits for it on the calling thread, which is not the thread of the tasks.
  func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task(executorPreference: self) {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
      result.withLock { $0 = outcome }
      isDone.signal()
    }
    isDone.wait()
    guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
  }
}

/// Holds calls back until a test releases them.
final class Gate: Sendable {
  private let opening = DispatchSemaphore(value: 0)
  private let state = Mutex((arrivals: 0, waiting: 0, most: 0))

  /// The number of calls that have reached the gate.
  var arrivals: Int { state.withLock { $0.arrivals } }

  /// The highest number of calls that waited at the same time.
  var most: Int { state.withLock { $0.most } }

  /// Blocks the thread until the gate is opened once. Returns false after a time limit, so that a failing test ends.
  func pass() -> Bool {
    state.withLock { state in
      state.arrivals += 1
      state.waiting += 1
      state.most = max(state.most, state.waiting)
    }
    defer { state.withLock { $0.waiting -= 1 } }
    return opening.wait(timeout: .now() + 20) == .success
  }

  func open() { opening.signal() }

  /// Lets other tasks run until a call has arrived.
  func arrival() async { while arrivals == 0 { await Task.yield() } }
}
