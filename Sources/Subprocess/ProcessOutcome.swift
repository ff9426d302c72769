/// How a program ended, and what it wrote.
package struct ProcessOutcome: Sendable, Equatable {
  /// The end of a process, as `wait(2)` tells it.
  package enum Ending: Sendable, Equatable {
    /// It ended by itself, with a status from 0 to 255.
    case exited(status: Int32)
    /// A signal ended it.
    case signaled(Int32)
  }

  /// Why a program was told to end.
  package enum Stop: Sendable, Equatable {
    /// Its time was over.
    case timeout
    /// The interruption descriptor became readable.
    case interruption
  }

  /// How it ended.
  package let ending: Ending
  /// Its standard output, where that was collected.
  package let output: [UInt8]
  /// Its standard error, where that was collected.
  package let errors: [UInt8]
  /// Why it was told to end; nil when it was not. It may have ended well nevertheless.
  package let stop: Stop?
  /// Whether both streams were taken to their end. They are not when something that the program started still
  /// holds them, or when a program that was told to end wrote more than accepted.
  package let isComplete: Bool

  /// Whether it ended with status 0, by itself.
  package var succeeded: Bool { ending == .exited(status: 0) && stop == nil }
}
