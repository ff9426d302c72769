internal import Synchronization

/// A counter that starts at one, for fault plans that act on the Nth operation.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  /// Returns the next number.
  package func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
