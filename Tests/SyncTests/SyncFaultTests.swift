import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Injects errors, then kills, at operations that change the disk while a store is synchronized (DESIGN section 6).
///
/// A sample is tried; `KEYTREE_EVERY_FAULT=1` tries every operation.
@Suite(.serialized, .slow) struct SyncFaultTests {
  @Test(arguments: FaultInjector.Mode.allCases)
  func `after a fault the next synchronization merges everything`(mode: FaultInjector.Mode) throws {
    let clones = try diverged()
    let kept = try FolderSnapshot(clones.paths + [clones.hub], in: "\(clones.world.store.folder.path)/kept")
    let counting = FaultInjector(at: .max, mode)
    try clones.sync(0, faults: counting.plan)
    let expected = try settled(clones, "no fault")
    #expect(expected.count == 7)
    let everyPoint = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"] != nil
    let step = everyPoint ? 1 : counting.count / 5
    for number in stride(from: 1, through: counting.count, by: step) {
      try kept.restore()
      let saboteur = FaultInjector(at: number, mode)
      var error: (any Error)?
      do {
        try clones.sync(0, faults: saboteur.plan)
      } catch let caught {
        error = caught
      }
      #expect(saboteur.hasInjected)
      let comment: Comment = "operation \(number) of \(counting.count), \(error.map { "\($0)" } ?? "done")"
      #expect(try settled(clones, comment) == expected, comment)
    }
  }

  /// Creates two clones with changes of every kind. Those of the first one are not committed yet.
  private func diverged() throws -> SyncClones {
    let clones = try SyncClones()
    let items = try ["a", "b", "c", "e"].map { try clones.add(0, "\($0).example", "me", "old \($0)") }
    try clones.sync(0)
    try clones.sync(1)
    for clone in 0..<2 {
      let keyring = try clones.open(clone)
      try keyring.update(items[0], secret: SecretBytes(text: "new a \(clone)"))
      try clones.add(clone, "d.example", "me", "d \(clone)")
      try clones.add(clone, "only\(clone).example", "me")
      if clone == 0 {
        try keyring.update(items[1], Self.set(.server, "moved.example"))
        try keyring.delete([items[2]])
      } else {
        try keyring.update(items[1], secret: SecretBytes(text: "new b"))
        try keyring.delete([items[3]])
      }
    }
    try clones.sync(1)
    return clones
  }

  private static func set(_ name: AttributeName, _ value: String) -> AttributeChanges {
    var attributes = Attributes()
    attributes[name] = .string(value)
    return AttributeChanges(set: attributes)
  }

  /// Synchronizes both clones without faults, and returns all items and conflict copies with their secrets.
  private func settled(_ clones: SyncClones, _ comment: Comment) throws -> Set<String> {
    for clone in [0, 1, 0] { try clones.sync(clone) }
    try clones.expectEqual(comment)
    for clone in 0..<2 { try clones.expectSound(clone, comment) }
    let keyring = try clones.open(0)
    let items = try keyring.find(Query()).items.map { record in
      "\(record.path.text) \(record.id) \(try keyring.text(of: record))"
    }
    let copies = try keyring.conflictCopies().map { copy in
      "copy of \(copy.record.path.text) \(copy.record.id) \(try keyring.text(of: copy))"
    }
    return Set(items + copies)
  }
}
