package import Keyring
internal import Synchronization

/// Counts operations and makes one of them, or all from one on, fail.
package final class FaultInjector: Sendable {
  /// The effect on the Nth operation.
  package enum Mode: CaseIterable, Sendable { case fails, runsOutOfSpace, isKilled, isKilledWhileWriting }

  private let state: Mutex<(count: Int, at: Int)>
  private let mode: Mode

  /// Interferes with the operation that has the given number, counted from 1.
  package init(at number: Int, _ mode: Mode) {
    state = Mutex((0, number))
    self.mode = mode
  }

  /// The number of operations so far.
  package var count: Int { state.withLock { $0.count } }
  /// True if it has interfered.
  package var hasInjected: Bool { state.withLock { $0.count >= $0.at } }

  /// The fault plan for the store.
  package var plan: FaultPlan {
    { operation, _ in
      let (number, target) = self.state.withLock { state in
        state.count += 1
        return (state.count, state.at)
      }
      switch self.mode {
      case .fails: return number == target ? .fail(5) : nil
      case .runsOutOfSpace: return number == target ? .failAfter(bytes: 3, 28) : nil
      case .isKilled: return number >= target ? .fail(4) : nil
      case .isKilledWhileWriting:
        if number == target && operation == .write { return .failAfter(bytes: 7, 4) }
        return number >= target ? .fail(4) : nil
      }
    }
  }
}
