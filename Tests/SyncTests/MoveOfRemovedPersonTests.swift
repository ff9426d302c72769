import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests merges of a person who moves an item to another group while an admin removes them from its old group.
@Suite(.slow) struct MoveOfRemovedPersonTests {
  /// A world in which Alice has an item in the default group, and Bob is in a second group.
  private static func world(isAliceInBoth: Bool) throws -> SimulatedWorld {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("ops", at: bob)
    if isAliceInBoth { try world.change([.join(alice.person, group: "ops")], at: bob) }
    try world.sync(bob)
    try world.sync(alice)
    try world.add("secret", at: alice)
    try world.sync(alice)
    for seat in world.seats { try world.sync(seat) }
    bob.clock.jump(bySeconds: 10)
    try world.change(AttributeChanges(group: "ops"), ofItem: "\(alice).example", at: bob)
    return world
  }

  /// Synchronizes all clones until nothing changes.
  private func settle(_ world: SimulatedWorld) throws {
    for _ in 0..<3 { for seat in world.seats { try world.sync(seat) } }
    for seat in world.seats {
      #expect(try world.sync(seat) == Synchronization.Report(), "\(seat)")
      #expect(try seat.open().check().findings.isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `a move that the person had not sent becomes a conflict copy`(isAliceInBoth: Bool) throws {
    let world = try Self.world(isAliceInBoth: isAliceInBoth)
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.change([.leave(bob.person, group: GroupName.default)], at: alice)
    try world.sync(alice)
    let report = try world.sync(bob)
    #expect(report.newCopies == 1 && report.deletions.isEmpty && report.refused.isEmpty)
    #expect(try world.sync(alice).refused.isEmpty)
    try settle(world)
    for seat in world.seats {
      let keyring = try seat.open()
      #expect(try keyring.find(Query()).items.map(\.group) == [GroupName.default])
      #expect(try keyring.conflictCopies().map(\.record.group) == ["ops"])
      #expect(try world.texts(seat)["secret"]?.count == 2)
    }
  }

  @Test(arguments: [false, true])
  func `a move that the person had sent before is accepted`(isAliceInBoth: Bool) throws {
    let world = try Self.world(isAliceInBoth: isAliceInBoth)
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.sync(bob)
    try world.change([.leave(bob.person, group: GroupName.default)], at: alice)
    let report = try world.sync(alice)
    #expect(report.newCopies == 0 && report.refused.isEmpty)
    try settle(world)
    for seat in world.seats {
      let keyring = try seat.open()
      #expect(try keyring.find(Query()).items.map(\.group) == ["ops"])
      #expect(try keyring.conflictCopies().isEmpty)
      #expect(try world.texts(seat)["secret"]?.count == 1)
    }
  }
}
