import Foundation

/// One test at a time whose code handles signals: a process has one set of handlers, and every suite runs in
/// one process. Two at once take each other's signals, and a read that waits for one then waits for ever.
public enum SignalTurn {
  private static let lock = NSRecursiveLock()

  /// Waits until no other test has the turn; a thread that has it may begin again.
  public static func begin() { lock.lock() }

  /// Ends what `begin` began.
  public static func end() { lock.unlock() }
}
