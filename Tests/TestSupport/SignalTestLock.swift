import Foundation

/// Serializes the tests whose code handles signals: a process has one set of handlers, and every suite runs in one
/// process. Two such tests at once would take each other's signals, and a read that waits for a signal would wait
/// forever.
public enum SignalTestLock {
  private static let lock = NSRecursiveLock()

  /// Waits until no other test has the turn. The thread that has it may call this again.
  public static func begin() { lock.lock() }

  /// Ends the turn that `begin` started.
  public static func end() { lock.unlock() }
}
