import Foundation

/// One editor at a time in this process: while one runs, the signals of the whole process are watched.
enum EditorTurn {
  private static let lock = NSLock()

  static func begin() { lock.lock() }
  static func end() { lock.unlock() }
}
