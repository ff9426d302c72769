internal import Glibc
internal import Synchronization

/// Runs independent pieces of work on several threads.
package struct WorkerPool: Sendable {
  /// How many threads work at once.
  let workers: Int

  /// - Parameters:
  ///   - workers: The number of threads; 0 for one for each processor that is online.
  ///   - startsPrograms: Whether the work is mostly done by other programs: then one more thread keeps the processors
  ///     busy while the others wait for an answer of gpg-agent.
  package init(workers: Int, startsPrograms: Bool = false) {
    if workers > 0 {
      self.workers = workers
    } else {
      self.workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) + (startsPrograms ? 1 : 0)
    }
  }

  /// Calls `body` for every number below `count`, and returns the results in that order.
  ///
  /// - Throws: the first error, after which no further piece is begun.
  package func map<T: Sendable, E: Error>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws(E) -> T
  ) throws(E) -> [T] {
    let job = Job(count: count, body)
    var threads: [WorkerThread] = []
    // The calling thread is one of the workers; when no other can be made, it does all the work.
    for _ in 1..<max(1, min(workers, count)) {
      guard let thread = WorkerThread({ job.run() }) else { break }
      threads.append(thread)
    }
    job.run()
    for thread in threads { thread.join() }
    return try job.results()
  }

  /// The pieces of one call, which the threads take one after the other.
  private final class Job<T: Sendable, E: Error>: Sendable {
    private struct State: Sendable {
      var results: [T?]
      var begun = 0
      var error: E?
    }

    private let state: Mutex<State>
    private let body: @Sendable (Int) throws(E) -> T

    init(count: Int, _ body: @escaping @Sendable (Int) throws(E) -> T) {
      state = Mutex(State(results: Array(repeating: nil, count: count)))
      self.body = body
    }

    func run() {
      while let piece = next() {
        do throws(E) {
          let result = try body(piece)
          state.withLock { $0.results[piece] = result }
        } catch {
          state.withLock { $0.error = $0.error ?? error }
        }
      }
    }

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
      return results.compactMap { $0 }
    }
  }
}
