import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests random changes in clones that are merged through a bare repository, with real git and a stand-in for the
/// encryption. `MergeTests` tests the laws of merging with more histories.
@Suite(.serialized, .slow) struct SyncFuzzTests {
  /// `KEYTREE_SYNC_SEEDS=500 swift test --filter SyncFuzzTests` tries more.
  private static let seeds =
    ProcessInfo.processInfo.environment["KEYTREE_SYNC_SEEDS"].flatMap(UInt64.init) ?? 6

  /// `KEYTREE_GNUPG_SEEDS=200 swift test --filter SyncFuzzTests` tries more, which takes minutes.
  private static let gnupgSeeds =
    ProcessInfo.processInfo.environment["KEYTREE_GNUPG_SEEDS"].flatMap(UInt64.init) ?? 1

  @Test(arguments: 0..<2)
  func `clones are merged without loss and without a git conflict`(part: UInt64) throws {
    for seed in stride(from: part, to: Self.seeds, by: 2) {
      try checkConvergence(try SyncClones(seed % 3 == 0 ? 3 : 2), seed)
    }
  }

  @Test func `clones are merged in the same way with real GnuPG`() throws {
    for seed in 0..<Self.gnupgSeeds {
      let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
      try checkConvergence(try SyncClones(seed % 3 == 0 ? 3 : 2, gnupg: store), 1_000 + seed)
    }
  }

  /// The changes of clones since the last merge, without those that they reverted themselves.
  private struct Made {
    var secrets: Set<String> = []
    /// By clone and item.
    var labels: [Int: [ItemID: String]] = [:]
  }

  private func checkConvergence(_ clones: SyncClones, _ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var made = Made()
    for round in 0..<3 {
      for clone in clones.paths.indices {
        for step in 0..<Int.random(in: 1...4, using: &generator) {
          let secret = "\(seed)-\(round)-\(clone)-\(step)"
          try change(clones, clone, secret, &made, &generator)
        }
      }
      for clone in clones.paths.indices { try clones.sync(clone) }
      for clone in clones.paths.indices.dropLast() { try clones.sync(clone) }
      try clones.expectEqual("seed \(seed)")
      for clone in clones.paths.indices {
        #expect(try clones.sync(clone) == Synchronization.Report(), "seed \(seed)")
      }
      try clones.expectSound(0, "seed \(seed), round \(round)")
      try expectKept(clones, made, "seed \(seed), round \(round)")
      made = Made()
    }
  }

  /// Expects that an item or a conflict copy has every secret and every label of a clone that the clone itself has not
  /// replaced or removed.
  private func expectKept(_ clones: SyncClones, _ made: Made, _ comment: Comment) throws {
    let keyring = try clones.open(0)
    let items = try keyring.find(Query()).items
    let copies = try keyring.conflictCopies()
    let texts = try items.map { try keyring.text(of: $0) } + copies.map { try keyring.text(of: $0) }
    #expect(made.secrets.isSubset(of: texts), comment)
    let labels = (items + copies.map(\.record)).compactMap { $0.attributes[.label] }
    for label in made.labels.values.flatMap(\.values) { #expect(labels.contains(.string(label)), comment) }
  }

  /// Makes one change in a clone.
  private func change(
    _ clones: SyncClones, _ clone: Int, _ secret: String, _ made: inout Made,
    _ generator: inout SeededGenerator
  ) throws {
    let keyring = try clones.open(clone)
    // This clone must not replace or remove its own changes since the last merge.
    let items = try keyring.find(Query()).items.filter {
      try keyring.text(of: $0).split(separator: "-")[1] != secret.split(separator: "-")[1]
    }
    let account = ["a", "b", "c", "d", "e"].randomElement(using: &generator) ?? "a"
    guard let item = items.randomElement(using: &generator), Int.random(in: 0..<3, using: &generator) > 0
    else {
      if try !isTaken({ _ = try clones.add(clone, "host.example", account, secret) }) {
        made.secrets.insert(secret)
      }
      return
    }
    var set = Attributes()
    switch Int.random(in: 0..<4, using: &generator) {
    case 0:
      try clones.replace(clone, item, secret)
      made.secrets.insert(secret)
      return
    case 1:
      set[.label] = .string(secret)
      made.labels[clone, default: [:]][item.id] = secret
    case 2: set[.account] = .string(account)
    default:
      try keyring.delete([item])
      made.labels[clone]?[item.id] = nil
      return
    }
    _ = try isTaken { try keyring.update(item, AttributeChanges(set: set)) }
  }

  /// Returns true if a change fails because another item has the place.
  private func isTaken(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch KeyringError.itemExists {
      return true
    }
  }
}
