internal import Glibc
internal import Synchronization

/// Runs independent tasks on several threads.
package struct WorkerPool: Sendable {
  /// The number of threads.
  let workers: Int

  /// Creates a pool.
  ///
  /// - Parameters:
  ///   - workers: The number of threads; 0 for one per online processor.
  ///   - startsPrograms: True if most of the work is done by other programs. Then one more thread keeps the processors
  ///     busy while the others wait for gpg-agent.
  package init(workers: Int, startsPrograms: Bool = false) {
    if workers > 0 {
      self.workers = workers
    } else {
      self.workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) + (startsPrograms ? 1 : 0)
    }
  }

  /// Calls `body` for every number below `count`, and returns the results in that order.
  ///
  /// - Throws: The first error, after which no further task is started.
  package func map<T: Sendable, E: Error>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws(E) -> T
  ) throws(E) -> [T] {
    if min(workers, count) <= 1 {
      // The first use of `Job` makes the runtime search all protocol conformances, which `get` need not wait for.
      var results: [T] = []
      for number in 0..<count { results.append(try body(number)) }
      return results
    }
    let job = Job(count: count, workers: workers, body)
    var threads: [WorkerThread] = []
    // The calling thread is one of the workers. If no other thread can be created, it does all the work.
    for _ in 1..<min(workers, count) {
      guard let thread = WorkerThread({ job.run() }) else { break }
      threads.append(thread)
    }
    job.run()
    for thread in threads { thread.join() }
    return try job.results()
  }

  /// The tasks of one call of `map`, which the threads take in order.
  private final class Job<T: Sendable, E: Error>: Sendable {
    private struct State: Sendable {
      var results: [[T]]
      var begun = 0
      var error: E?
    }

    private let state: Mutex<State>
    private let hasFailed = Atomic(false)
    private let body: @Sendable (Int) throws(E) -> T
    private let count: Int
    /// The number of tasks that a thread takes at once. Thousands of short tasks would otherwise spend most of their
    /// time waiting for the mutex. A thread never takes more than a small part of all tasks, because they may differ in
    /// length.
    private let portion: Int

    init(count: Int, workers: Int, _ body: @escaping @Sendable (Int) throws(E) -> T) {
      (self.count, self.body) = (count, body)
      portion = max(1, min(64, count / (workers * 64)))
      state = Mutex(State(results: Array(repeating: [], count: (count + portion - 1) / portion)))
    }

    func run() {
      while let number = next() {
        var results: [T] = []
        results.reserveCapacity(portion)
        do throws(E) {
          for task in (number * portion)..<min((number + 1) * portion, count) {
            if hasFailed.load(ordering: .relaxed) { return }
            results.append(try body(task))
          }
          state.withLock { $0.results[number] = results }
        } catch {
          hasFailed.store(true, ordering: .relaxed)
          state.withLock { $0.error = $0.error ?? error }
        }
      }
    }

    /// Returns the number of the next portion; nil if there is none, or after an error.
    private func next() -> Int? {
      state.withLock { state in
        guard state.error == nil, state.begun < state.results.count else { return nil }
        state.begun += 1
        return state.begun - 1
      }
    }

    func results() throws(E) -> [T] {
      let (results, error) = state.withLock { ($0.results, $0.error) }
      if let error { throw error }
      return Array(results.joined())
    }
  }
}
