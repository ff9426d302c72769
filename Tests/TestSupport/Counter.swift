internal import Synchronization

/// Counts from one, for plans that strike at the Nth operation.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  /// The next number.
  package func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
