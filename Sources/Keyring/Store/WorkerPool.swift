internal import Glibc
internal import Synchronization

/// Runs independent pieces of work on several threads.
package struct WorkerPool: Sendable {
  /// How many threads work at once.
  let workers: Int

  /// - Parameter workers: the number of threads; 0 means one for each processor that is online.
  package init(workers: Int) {
    self.workers = workers > 0 ? workers : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  /// Calls `body` for every number below `count`, and returns the results in that order.
  ///
  /// - Throws: the first error, after which no further piece is begun.
  package func map<T: Sendable, E: Error>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws(E) -> T
  ) throws(E) -> [T] {
    let job = Job(count: count, body)
    var threads: [pthread_t] = []
    // The calling thread is one of the workers; when no other can be made, it does all the work.
    for _ in 1..<max(1, min(workers, count)) {
      var thread = pthread_t()
      let context = unsafe Unmanaged.passRetained(Work { job.run() }).toOpaque()
      let status = unsafe pthread_create(
        &thread, nil,
        { context in
          guard let context = unsafe context else { return nil }
          unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
          return nil
        }, context)
      guard status == 0 else {
        unsafe Unmanaged<Work>.fromOpaque(context).release()
        break
      }
      threads.append(thread)
    }
    job.run()
    for thread in threads { pthread_join(thread, nil) }
    return try job.results()
  }

  /// What a thread is handed.
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
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
