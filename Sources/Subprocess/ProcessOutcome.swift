/// The way a program ended, and its output.
package struct ProcessOutcome: Sendable, Equatable {
  /// The end of a process, as `wait(2)` tells it.
  package enum Ending: Sendable, Equatable {
    /// It ended by itself, with a status from 0 to 255.
    case exited(status: Int32)
    /// A signal ended it.
    case signaled(Int32)
  }

  /// The reasons why a program was stopped.
  package enum Stop: Sendable, Equatable {
    /// Its time was over.
    case timeout
    /// The interruption descriptor became readable.
    case interruption
  }

  /// The way it ended.
  package let ending: Ending
  /// Its standard output, where that was collected.
  package let output: [UInt8]
  /// Its standard error, where that was collected.
  package let errors: [UInt8]
  /// The reason why it was stopped; nil if it was not. It may have succeeded nevertheless.
  package let stop: Stop?
  /// A Boolean value that indicates whether both streams were read to their end. They are not if another
  /// process still holds them, or if a program that was stopped wrote more than accepted.
  package let isComplete: Bool

  /// A Boolean value that indicates whether it ended with status 0, without being stopped.
  package var succeeded: Bool { ending == .exited(status: 0) && stop == nil }
}
