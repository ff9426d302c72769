import Keyring
import Synchronization
import Testing

/// Tests the distribution of tasks over threads.
@Suite(.serialized) struct WorkerPoolTests {
  @Test(arguments: [1, 2, 5], [0, 1, 2, 63, 64, 65, 129, 5000, 20_001])
  func `every task runs once, and the results are in order`(workers: Int, count: Int) {
    let runs = Atomic(0)
    let results = WorkerPool(workers: workers).map(count) { number in
      runs.add(1, ordering: .relaxed)
      return number * 2
    }
    #expect(results == (0..<count).map { $0 * 2 } && runs.load(ordering: .relaxed) == count)
  }

  private struct Failure: Error, Equatable {}

  @Test(arguments: [1, 3]) func `no task starts after an error`(workers: Int) {
    let runs = Atomic(0)
    #expect(throws: Failure.self) {
      _ = try WorkerPool(workers: workers).map(100_000) { (number) throws(Failure) -> Int in
        runs.add(1, ordering: .relaxed)
        if number == 10 { throw Failure() }
        return number
      }
    }
    #expect(workers > 1 || runs.load(ordering: .relaxed) == 11)
  }
}
