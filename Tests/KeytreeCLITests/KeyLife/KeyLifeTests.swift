import Foundation
import TestSupport
import Testing

/// Tests that a team keeps working through all events in the life of a key, with real GnuPG and git.
///
/// By default, each event is tried with a part of the operations, so that each operation is tried with some of the
/// events. `KEYTREE_KEY_LIFE=all` tries all of them; numbers of events, such as `3,17`, try all operations with these.
@Suite(.slow, .needsFaketime) struct KeyLifeTests {
  private static let wanted = ProcessInfo.processInfo.environment["KEYTREE_KEY_LIFE"] ?? ""
  private static let numbers = wanted.split(separator: ",").compactMap { Int($0) }
  static let isComplete = wanted == "all" || !numbers.isEmpty
  static let events = numbers.isEmpty ? Array(KeyEvent.all.indices) : numbers
  /// Of so many operations, a sample has one. It has no common factor with the number of events or operations.
  private static let step = 11

  /// Returns the operations that are tried with an event.
  private static func operations(_ event: Int) -> [KeyMatrix.Operation] {
    KeyMatrix.Operation.all.enumerated().filter { isComplete || ($0.offset + event) % step == 0 }.map(
      \.element)
  }

  @Test(arguments: KeyLifeTests.events)
  func `no change of a key locks a member out`(index: Int) throws {
    let event = KeyEvent.all[index]
    let operations = Self.operations(index)
    let world = try KeyLifeWorld(copying: KeyLifeWorld.base.get())
    try event.prelude(world)
    try event.happen(world)
    world.now = event.now
    var count = try KeyMatrix(world: world, phase: .before, state: event.before).check(operations)
    try world.syncEverywhere()
    for command in event.imports { try command.run(world) }
    if let person = event.replaces { world.primary[person] = try world.resolve("NEW") }
    try world.syncEverywhere()
    if let rotation = event.rotation {
      #expect(try world.succeed(.admin, "rotate", "status").output.contains(rotation))
    }
    count += try KeyMatrix(world: world, phase: .after, state: event.after).check(operations)
    if Self.isComplete { print("\(event.name): \(count) results") }
  }

  @Test func `a sample has every operation`() {
    let tried = Set(KeyEvent.all.indices.flatMap(Self.operations).map(\.name))
    #expect(tried == Set(KeyMatrix.Operation.all.map(\.name)))
  }
}
