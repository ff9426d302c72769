import Keyring
import KeyringModel
import Secrets
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
    // An import has many operations that are alike.
    let power = PowerCut(of: store.path, samples: { change != .importMany || $0 % 29 == 0 })
    try change.perform(on: store, faults: power.plan)
    let (operations, disks) = power.finish()
    #expect(disks.count > operations / 29)
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

  /// Runs the next command, and expects one of some contents and no finding.
  private func expect(
    _ change: StoreChange, _ contents: [[String: String]], in store: StandInStore, _ comment: String
  ) throws {
    // An unrelated change, so that recovery runs.
    try store.open().add(.login("next.example", "someone"), secret: SecretBytes(text: "next"))
    var after = try StoreChange.contents(of: store)
    #expect(after.removeValue(forKey: "internet-password/next.example/someone") == "next", "\(comment)")
    #expect(contents.contains(after), "\(comment)")
    if change == .repair { _ = try store.open().repair() }
    let findings = try store.open().check(decrypts: true).findings
    #expect(findings.isEmpty, "\(comment)")
  }
}
