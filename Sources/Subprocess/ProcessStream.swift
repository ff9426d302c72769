/// A stream that a program writes to.
package enum ProcessStream: Sendable, Equatable {
  /// Standard output, descriptor 1.
  case output
  /// Standard error, descriptor 2.
  case errors
}
