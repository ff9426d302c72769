// A build without tests does not find Testing.
#if canImport(Testing)
  internal import Dispatch
  package import Testing

  /// Runs the tests of a suite outside of the threads that tests share, because they mostly wait: for a prompt, a timer
  /// or another program.
  ///
  /// These are as many threads as the machine has processors, and a test that blocks one delays all others. Dispatch
  /// starts another thread for its queue if the others wait.
  package struct WaitingTests: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
      try await withTaskExecutorPreference(Threads.shared) { try await function() }
    }

    private final class Threads: TaskExecutor {
      static let shared = Threads()
      private let queue = DispatchQueue(label: "waiting tests", attributes: .concurrent)

      func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      }
    }
  }

  extension Trait where Self == WaitingTests {
    /// Runs the tests outside of the threads that tests share, because they mostly wait.
    package static var waits: Self { WaitingTests() }
  }
#endif
