import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests merges of a person who moves an item to another group while an admin removes them from its old group, or
/// without being a member of the group to which another person has moved it.
@Suite(.slow) struct UnsentMoveTests {
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

  @Test func `an item that one person restores from a copy and another one moves has one place`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    for group in ["ops", "web"] { try world.create(group, at: bob) }
    try world.change([.join(alice.person, group: "ops")], at: bob)
    try world.add("moved", named: "old", to: "ops", at: bob)
    for seat in [bob, alice] { try world.sync(seat) }
    try world.change(AttributeChanges(set: [.server: .string("new.example")]), ofItem: "old.example", at: bob)
    try world.sync(bob)
    // The later item keeps its name, and the earlier one becomes a conflict copy.
    alice.clock.jump(bySeconds: 100)
    try world.add("added", named: "new", to: "ops", at: alice)
    #expect(try world.sync(alice).newCopies == 1)
    try world.change(AttributeChanges(group: "web"), ofItem: "new.example", at: bob)
    try world.sync(bob)
    let keyring = try alice.open()
    try keyring.resolve(try #require(try keyring.conflictCopies().first), keeping: .both)
    try alice.commit()
    // Alice is not in the group `web`, so others would refuse to move the item from there.
    #expect(try world.sync(alice).refused.isEmpty)
    #expect(try world.sync(bob).refused.isEmpty)
    try settle(world)
    for seat in world.seats {
      let keyring = try seat.open()
      #expect(try keyring.find(Query()).items.map(\.group).sorted() == ["ops", "web"])
      #expect(try keyring.conflictCopies().map(\.record.group) == ["ops"])
      #expect(try world.texts(seat).mapValues(\.count) == ["moved": 2, "added": 1])
    }
  }

  /// A world in which Alice has moved an item to a group of hers before Bob has moved it to one of his.
  private func worldAfterTwoMoves() throws -> SimulatedWorld {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("web", at: alice)
    try world.add("secret", at: alice)
    for seat in [alice, bob] { try world.sync(seat) }
    try world.create("ops", at: bob)
    for seat in [bob, alice] { try world.sync(seat) }
    try world.change(AttributeChanges(group: "web"), ofItem: "\(alice).example", at: alice)
    bob.clock.jump(bySeconds: 100)
    try world.change(AttributeChanges(group: "ops"), ofItem: "\(alice).example", at: bob)
    for seat in [alice, bob, alice] { #expect(try world.sync(seat).refused.isEmpty) }
    return world
  }

  @Test func `the first one of two moves to groups of different people is kept`() throws {
    let world = try worldAfterTwoMoves()
    try settle(world)
    for seat in world.seats {
      let keyring = try seat.open()
      #expect(try keyring.find(Query()).items.map(\.group) == ["web"])
      #expect(try keyring.conflictCopies().map(\.record.group) == ["ops"])
    }
  }

  @Test func `an item that two people restore in groups of different people becomes two copies`() throws {
    let world = try worldAfterTwoMoves()
    let (alice, bob) = (world.seats[0], world.seats[2])
    var keyring = try alice.open()
    try keyring.delete(try keyring.find(Query()).items)
    try alice.commit()
    for seat in [alice, bob] { try world.sync(seat) }
    let repository = try alice.repository()
    let removal = try #require(try RemovedItems(below: [StoreLayout.items], in: repository).removals.first)
    let past = try #require(try HistoricalStore(at: removal.parent, in: repository))
    keyring = try alice.open()
    try keyring.bringBack([past.item(at: removal.record.path, in: keyring)])
    try alice.commit()
    try world.sync(alice)
    let own = try bob.open()
    try own.resolve(try #require(try own.conflictCopies().first), keeping: .both)
    try bob.commit()
    try world.sync(bob)
    try settle(world)
    for seat in world.seats {
      let keyring = try seat.open()
      #expect(try keyring.find(Query()).items.isEmpty)
      #expect(try keyring.conflictCopies().map(\.record.group).sorted() == ["ops", "web"])
    }
  }
}
