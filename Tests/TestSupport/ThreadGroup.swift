internal import Glibc
internal import Synchronization

/// Threads that run the same code concurrently, for tests.
package enum ThreadGroup {
  /// Runs a body on each of several threads and waits for all of them.
  ///
  /// - Throws: The first error that a thread threw.
  package static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let job = Job(body)
    var threads: [pthread_t] = []
    for number in 0..<count {
      var thread = pthread_t()
      let context = unsafe Unmanaged.passRetained(Start(number, job)).toOpaque()
      let status = unsafe pthread_create(
        &thread, nil,
        { context in
          guard let context = unsafe context else { return nil }
          let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
          start.job.run(start.number)
          return nil
        }, context)
      precondition(status == 0, "cannot create a thread")
      threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
    if let error = job.error.withLock({ $0 }) { throw error }
  }

  private final class Job: Sendable {
    let body: @Sendable (Int) throws -> Void
    let error = Mutex<(any Error)?>(nil)

    init(_ body: @escaping @Sendable (Int) throws -> Void) { self.body = body }

    func run(_ number: Int) {
      do {
        try body(number)
      } catch {
        self.error.withLock { $0 = $0 ?? error }
      }
    }
  }

  private final class Start: Sendable {
    let number: Int
    let job: Job
    init(_ number: Int, _ job: Job) { (self.number, self.job) = (number, job) }
  }
}
