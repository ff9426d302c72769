/// The exit status and the output of a program.
package struct ProcessOutcome: Sendable, Equatable {
  /// The end of a process, as `wait(2)` reports it.
  package enum Ending: Sendable, Equatable {
    /// The process exited with a status from 0 to 255.
    case exited(status: Int32)
    /// A signal ended the process.
    case signaled(Int32)
  }

  /// The reasons why a program was stopped.
  package enum Stop: Sendable, Equatable {
    /// The time limit was exceeded.
    case timeout
    /// The interruption descriptor became readable.
    case interruption
  }

  /// The exit status or signal.
  package let ending: Ending
  /// The standard output, if it was collected.
  package let output: [UInt8]
  /// The standard error, if it was collected.
  package let errors: [UInt8]
  /// The reason why the program was stopped; nil if it was not. It may have succeeded nevertheless.
  package let stop: Stop?
  /// True if both streams were read to their end. They are not if another process still has them open, or if a program
  /// that was stopped exceeded a limit on its output.
  package let isComplete: Bool

  /// True if the program exited with status 0 and was not stopped.
  package var succeeded: Bool { ending == .exited(status: 0) && stop == nil }
}
