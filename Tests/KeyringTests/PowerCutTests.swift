import Foundation
import Keyring
import KeyringModel
import Secrets
import Synchronization
import TestSupport
import Testing

/// Cuts the power after each operation of a change, in a model of the disk that loses what is not flushed.
@Suite(.serialized, .slow) struct PowerCutTests {
  @Test(
    "after a power cut every item is its old or its new version and the check finds nothing",
    arguments: StoreChange.allCases)
  func cut(_ change: StoreChange) throws {
    let store = StandInStore()
    try change.prepare(store)
    let before = try StoreChange.contents(of: store)
    let expected = change.expected(before)
    let step = Self.step(change)
    let power = PowerCut(of: store.path, samples: { $0 % step == 0 })
    try change.perform(on: store, faults: power.plan)
    let (operations, disks) = power.finish()
    #expect(disks.count > operations / step)
    for disk in disks {
      do {
        try power.restore(disk)
        try expect(change, disk.isDone ? [expected] : [before, expected], in: store, "\(change), \(disk)")
      } catch {
        Issue.record("\(change), \(disk): \(error)")
      }
    }
    print("power cuts: \(change): \(operations) operations, \(disks.count) states")
  }

  @Test(
    "after a kill, and a power cut in the recovery, every item is its old or its new version",
    arguments: [StoreChange.update, .keepHere, .delete, .rename])
  func cutRecovery(_ change: StoreChange) throws {
    let store = StandInStore()
    try change.prepare(store)
    let before = try StoreChange.contents(of: store)
    let power = PowerCut(of: store.path)
    let isKilled = Mutex(false)
    // The record of the transaction has its name, and its folder is not flushed.
    #expect(throws: KeyringError.self) {
      try change.perform(on: store) { operation, path in
        let dies = isKilled.withLock { $0 }
        if operation == .rename, path.hasSuffix("/commit.json") { isKilled.withLock { $0 = true } }
        return dies ? .fail(4) : power.plan(operation, path)
      }
    }
    _ = try store.open(faults: power.plan).find(Query())
    let (operations, disks) = power.finish(isDone: false)
    #expect(disks.count > operations)
    for disk in disks {
      do {
        try power.restore(disk)
        try expect(change, [before, change.expected(before)], in: store, "\(change), \(disk)")
      } catch {
        Issue.record("\(change), \(disk): \(error)")
      }
    }
  }

  @Test func `without the flush of the root a power cut loses the item of a new folder`() throws {
    let store = StandInStore()
    try StoreChange.keepHere.prepare(store)
    let power = PowerCut(of: store.path, ignoring: { $0 == .synchronizeDirectory && $1.isEmpty })
    try StoreChange.keepHere.perform(on: store, faults: power.plan)
    let isLost = try power.finish().disks.filter(\.isDone).contains { disk in
      try power.restore(disk)
      return try store.open().find(Query(text: "a.example")).items.isEmpty
    }
    #expect(isLost)
  }

  /// A smaller import would leave these flushes out of the tests of power cuts and faults.
  @Test func `an import flushes the file system after staging its files and after placing them`() throws {
    let store = StandInStore()
    try StoreChange.importMany.prepare(store)
    let flushes = Mutex(0)
    try StoreChange.importMany.perform(on: store) { operation, _ in
      if operation == .synchronizeAll { flushes.withLock { $0 += 1 } }
      return nil
    }
    #expect(flushes.withLock { $0 } == 2)
  }

  /// Returns the number of operations from one power cut to the next.
  ///
  /// A change of a login has the operations of `add`, `update`, `rename` or `delete` several times, and an import those
  /// of `add`. Each item has three operations in a row, so the number must not be a multiple of three.
  /// `KEYTREE_EVERY_FAULT` tries every operation.
  private static func step(_ change: StoreChange) -> Int {
    if unsafe getenv("KEYTREE_EVERY_FAULT") != nil { return 1 }
    switch change {
    case .importMany: return 101
    case .addLogin, .updateLogin, .renameLogin, .deleteLogin: return 7
    default: return 2
    }
  }

  /// Runs the next command, and expects one of some contents and no finding.
  private func expect(
    _ change: StoreChange, _ contents: [[String: String]], in store: StandInStore, _ comment: String
  ) throws {
    // An unrelated change, so that recovery runs.
    try store.open().add(.login("next.example", "someone"), secret: SecretBytes(text: "next"))
    var after = try StoreChange.contents(of: store)
    #expect(after.removeValue(forKey: "internet-password/next.example/someone") == "next", "\(comment)")
    #expect(contents.contains(after), "\(comment)")
    if change == .repair {
      // The stray file is at its path or in the quarantine.
      let paths = FileManager.default.enumerator(atPath: store.path)?.compactMap { $0 as? String } ?? []
      let isKept = paths.contains { path in
        path.hasSuffix("/stray")
          && FileManager.default.contents(atPath: "\(store.path)/\(path)") == Data([1, 2, 3])
      }
      #expect(isKept, "\(comment)")
      _ = try store.open().repair()
    }
    let findings = try store.open().check(decrypts: true).findings
    #expect(findings.isEmpty, "\(comment)")
  }
}
