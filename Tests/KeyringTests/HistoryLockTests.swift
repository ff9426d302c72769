import Keyring
import Synchronization
import TestSupport
import Testing

/// Tests the notes in the locks of the history.
struct HistoryLockTests {
  @Test func `a note is on disk before git runs`() throws {
    let store = StandInStore()
    try store.create()
    let operations = Mutex<[String]>([])
    let tree = try FileTree(
      at: store.path,
      faults: { operation, path in
        operations.withLock { $0.append("\(operation.rawValue) \(path)") }
        return nil
      })
    let lock = try HistoryLock(.commits, in: tree, timeout: 1)
    operations.withLock { $0 = [] }
    try lock.leaveNote(Array("running".utf8))
    let path = ".keytree/commit.lock"
    #expect(operations.withLock { $0 } == ["write \(path)", "synchronize \(path)"])
    #expect(lock.note?.bytes == Array("running".utf8))
  }
}
