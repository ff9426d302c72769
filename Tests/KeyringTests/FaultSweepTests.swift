import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Testing
import TestSupport

/// Injects errors, then kills, at every operation that changes the disk, one at a time (DESIGN section 6).
@Suite(.serialized, .slow) struct FaultSweepTests {
  @Test(
    "after a fault at any operation every item is its old or its new version and the check finds nothing",
    arguments: StoreChange.allCases, FaultInjector.Mode.allCases)
  func sweep(_ change: StoreChange, _ mode: FaultInjector.Mode) throws {
    let total = try operations(of: change)
    let store = StandInStore()
    try change.prepare(store)
    let before = try StoreChange.contents(of: store)
    let start = try SavedFolder(store.folder.path)
    var points = 0
    for number in 1...total where isTried(number, of: total, change) {
      try start.restore()
      let saboteur = FaultInjector(at: number, mode)
      let isStored: Bool
      do {
        try change.perform(on: store, faults: saboteur.plan)
        isStored = true
      } catch KeyringError.unfinished {
        isStored = true
      } catch is KeyringError {
        isStored = false
      }
      #expect(saboteur.hasInjected)
      points += 1
      // The next command runs without faults. It makes an unrelated change, so that recovery runs.
      try store.open().add(.login("next.example", "someone"), secret: SecretBytes(text: "next"))
      var after = try StoreChange.contents(of: store)
      #expect(after.removeValue(forKey: "internet-password/next.example/someone") == "next")
      let expected = change.expected(before)
      if isStored {
        #expect(after == expected, "\(change), \(mode), operation \(number): reported as stored, but is not")
      } else if mode == .isKilled || mode == .isKilledWhileWriting {
        // A killed process cannot undo anything, nor report it.
        #expect(
          after == before || after == expected, "\(change), \(mode), operation \(number): neither old nor new"
        )
      } else {
        #expect(after == before, "\(change), \(mode), operation \(number): an error, but not the old version")
      }
      let report = try store.open().check(decrypts: true)
      if change != .repair { #expect(report.findings.isEmpty, "\(change), \(mode), operation \(number)") }
      if change == .repair {
        let repaired = try store.open().repair()
        #expect(repaired.findings.isEmpty, "\(change), \(mode), operation \(number)")
      }
    }
    print("fault sweep: \(change), \(mode): \(points) of \(total) operations tried")
  }

  @Test(
    "after a kill, and a kill at any operation of the recovery, a committed change is complete",
    arguments: [StoreChange.updateLocal, .delete, .rename, .repair])
  func killedTwice(_ change: StoreChange) throws {
    var points = 0
    // Every third operation, and a different third after each first kill, unless every fault is requested.
    let step = unsafe getenv("KEYTREE_EVERY_FAULT") != nil ? 1 : 3
    let store = StandInStore()
    try change.prepare(store)
    let before = try StoreChange.contents(of: store)
    let start = try SavedFolder(store.folder.path)
    for number in 1...(try operations(of: change)) {
      var again = number % step - step + 1
      while true {
        again += step
        try start.restore()
        // This run is killed. A change that was not committed needs no recovery; the other sweep tests that.
        try? change.perform(on: store, faults: FaultInjector(at: number, .isKilled).plan)
        guard try isDecided(store) else { break }
        let second = FaultInjector(at: again, .isKilled)
        _ = try? store.open(faults: second.plan).find(Query())
        guard second.hasInjected else { break }
        points += 1
        try store.open().add(.login("next.example", "someone"), secret: SecretBytes(text: "next"))
        var after = try StoreChange.contents(of: store)
        #expect(after.removeValue(forKey: "internet-password/next.example/someone") == "next")
        #expect(after == change.expected(before), "\(change), operations \(number) and \(again)")
        #expect(try store.tree().list(".keytree").allSatisfy { !$0.hasPrefix("transaction-") })
        #expect(try store.open().check(decrypts: true).findings == [], "\(change), \(number), \(again)")
      }
    }
    #expect(points > 20)
  }

  /// Returns true if a committed transaction is left for the next command.
  private func isDecided(_ store: StandInStore) throws -> Bool {
    let tree = try store.tree()
    return try tree.list(".keytree").contains {
      try $0.hasPrefix("transaction-") && tree.status(".keytree/\($0)/commit.json") != nil
    }
  }

  /// Returns the number of operations of a change without faults.
  private func operations(of change: StoreChange) throws -> Int {
    let store = StandInStore()
    try change.prepare(store)
    let saboteur = FaultInjector(at: .max, .fails)
    try change.perform(on: store, faults: saboteur.plan)
    return saboteur.count
  }

  /// Returns true for the operations that are tried: every second one of most changes; the first and last 12 of an import,
  /// and every 101st between; every seventh of a login; and always the last six. Each item has three operations in a row, so
  /// these numbers are not multiples of three. `KEYTREE_EVERY_FAULT` tries every operation, which takes minutes.
  private func isTried(_ number: Int, of total: Int, _ change: StoreChange) -> Bool {
    let isThorough = unsafe getenv("KEYTREE_EVERY_FAULT") != nil
    if isThorough { return true }
    switch change {
    case .importMany: return number <= 12 || number > total - 12 || number % 101 == 0
    case .addLogin, .updateLogin, .renameLogin, .deleteLogin: return number % 7 == 0 || number > total - 6
    default: return number % 2 == 0 || number > total - 6
    }
  }
}
