import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Random changes in clones that come together through a bare repository, with real git and a stand-in cipher; the
/// laws of merging themselves are tried in `MergeTests` over more histories.
@Suite struct SyncFuzzTests {
  /// `KEYTREE_SYNC_SEEDS=500 swift test --filter SyncFuzzTests` tries more.
  private static let seeds =
    ProcessInfo.processInfo.environment["KEYTREE_SYNC_SEEDS"].flatMap(UInt64.init) ?? 6

  /// `KEYTREE_GNUPG_SEEDS=200 swift test --filter SyncFuzzTests` tries more, which takes minutes.
  private static let gnupgSeeds =
    ProcessInfo.processInfo.environment["KEYTREE_GNUPG_SEEDS"].flatMap(UInt64.init) ?? 1

  @Test(arguments: 0..<2)
  func `clones come together without loss and without a conflict of git`(part: UInt64) throws {
    for seed in stride(from: part, to: Self.seeds, by: 2) {
      try comeTogether(try SyncClones(seed % 3 == 0 ? 3 : 2), seed)
    }
  }

  @Test func `the same with real GnuPG`() throws {
    for seed in 0..<Self.gnupgSeeds {
      let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
      try comeTogether(try SyncClones(seed % 3 == 0 ? 3 : 2, gnupg: store), 1_000 + seed)
    }
  }

  /// What clones have made since they came together, and not taken back themselves.
  private struct Made {
    var secrets: Set<String> = []
    /// By clone and item.
    var labels: [Int: [ItemID: String]] = [:]
  }

  private func comeTogether(_ clones: SyncClones, _ seed: UInt64) throws {
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

  /// Every secret and every label that a clone had made, and not itself replaced or removed, is in an item or a conflict
  /// copy.
  private func expectKept(_ clones: SyncClones, _ made: Made, _ comment: Comment) throws {
    let keyring = try clones.open(0)
    let items = try keyring.find(Query()).items
    let copies = try keyring.conflictCopies()
    let texts = try items.map { try keyring.text(of: $0) } + copies.map { try keyring.text(of: $0) }
    #expect(made.secrets.isSubset(of: texts), comment)
    let labels = (items + copies.map(\.record)).compactMap { $0.attributes[.label] }
    for label in made.labels.values.flatMap(\.values) { #expect(labels.contains(.string(label)), comment) }
  }

  /// Does one thing in a clone.
  private func change(
    _ clones: SyncClones, _ clone: Int, _ secret: String, _ made: inout Made,
    _ generator: inout SeededGenerator
  ) throws {
    let keyring = try clones.open(clone)
    // What this clone has made since the last time would be lost by its own hand.
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

  /// Whether a change fails since another item has the place.
  private func isTaken(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch KeyringError.itemExists {
      return true
    }
  }
}
