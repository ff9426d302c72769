import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests two clones with all kinds of changes, while people join and leave.
@Suite(.serialized, .slow) struct RotationWalkTests {
  @Test("the list matches the history, read by another method", arguments: 1...3 as ClosedRange<UInt64>)
  func walk(seed: UInt64) throws {
    var walk = try RotationWalk(seed: seed)
    var found = 0
    for step in 0..<40 {
      let done = try walk.step()
      guard step % 8 == 7 else { continue }
      for clone in 0...1 {
        let path = walk.clones.paths[clone]
        let plain = try PlainRotation(walk.clones.world, at: path)
        let (list, readers) = try walk.clones.world.rotation(at: path)
        #expect(list.isComplete && readers.strays.isEmpty && readers.badRecords == 0)
        #expect(list.openReaders == plain.open, "seed \(seed), step \(step): \(done), clone \(clone)")
        #expect(list.deletedReaders == plain.deleted, "seed \(seed), step \(step): \(done), clone \(clone)")
        found += list.entries.count
      }
    }
    #expect(found > 10, "the walk has found entries")
  }
}

/// A random walk through the changes of two clones.
struct RotationWalk {
  let clones: SyncClones
  private var generator: SeededGenerator
  private var number = 0
  private let people = (2...4).map { EngineDouble.fingerprint($0) }

  init(seed: UInt64) throws {
    clones = try SyncClones(2)
    generator = SeededGenerator(seed: seed)
    for person in people.prefix(2) {
      try clones.changePolicy { try clones.world.store.join(person, "default", "ops") }
    }
  }

  private mutating func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

  /// Makes one change, in one clone or in both.
  ///
  /// - Returns: The name of the change.
  mutating func step() throws -> String {
    number += 1
    let clone = draw(0..<2)
    let keyring = try clones.open(clone)
    let item = try keyring.find(Query()).items.randomElement(using: &generator)
    let group = ["default", "ops"].randomElement(using: &generator) ?? "default"
    let done: String
    switch (draw(0..<14), item) {
    case (0...2, _), (_, nil):
      done = "add"
      try add("s\(draw(0..<6)).example", group, to: keyring)
    case (3...4, let item?):
      done = "edit"
      try clones.replace(clone, item, "secret \(number)")
    case (5, let item?):
      done = "rename"
      try keyring.update(item, AttributeChanges(set: [.server: .string("t\(number).example")]))
    case (6...7, let item?):
      done = "move"
      try ignoringConflicts { try keyring.update(item, AttributeChanges(group: group)) }
    case (8, let item?):
      done = "delete"
      try keyring.delete([item])
    case (9, let item?):
      done = "copy"
      var copy = NewItem.login("u\(number).example", "alice")
      copy.group = group
      try keyring.duplicate(item, as: copy)
    case (10, _):
      done = "resolve"
      try resolve(in: keyring)
    case (11, _):
      done = "sync"
      try clones.sync(clone)
    default:
      done = "policy"
      try changeSomebody(group)
    }
    try clones.world.commit(at: clones.paths[clone])
    return done
  }

  private func add(_ server: String, _ group: String, to keyring: Keyring) throws {
    var item = NewItem.login(server, "alice")
    item.group = group
    let new = item
    let secret = SecretBytes(text: "secret \(number)")
    if try keyring.find(Query(predicates: [.path(new.path())])).items.isEmpty {
      try keyring.add(new, secret: secret)
    }
  }

  private mutating func resolve(in keyring: Keyring) throws {
    guard let copy = try keyring.conflictCopies().first else { return }
    let choice = ConflictChoice.allCases.randomElement(using: &generator) ?? .both
    try ignoringConflicts { try keyring.resolve(copy, keeping: choice) }
  }

  /// Ignores errors about a place that another item has, and about items that no longer exist.
  private func ignoringConflicts<R>(_ body: () throws -> R) throws {
    do {
      _ = try body()
    } catch KeyringError.itemExists, KeyringError.itemNotFound {
    }
  }

  private mutating func changeSomebody(_ group: String) throws {
    guard let person = people.randomElement(using: &generator) else { return }
    let store = clones.world.store
    let kind = draw(0..<4)
    try clones.changePolicy {
      switch kind {
      case 0...1: try store.join(person, group)
      case 2: try store.leave(person, group)
      default:
        if try store.open().policy.people[person] != nil {
          try store.remove(person)
        } else {
          try store.join(person, group)
        }
      }
    }
    // The remaining members usually re-encrypt the items.
    if draw(0..<3) > 0 {
      try store.open().reencryptOutdated()
      try clones.world.commit()
    }
  }
}
