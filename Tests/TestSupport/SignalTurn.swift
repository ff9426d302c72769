import Foundation

/// One test at a time whose code handles signals: a process has one set of handlers, and every suite runs in
/// one process. Two at once take each other's signals, and a read that waits for one then waits for ever.
public enum SignalTurn {
  private static let lock = NSRecursiveLock()

  public static func begin() { lock.lock() }
  public static func end() { lock.unlock() }
}
