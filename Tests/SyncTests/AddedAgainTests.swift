import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests that nothing that a person signs gets lost if they are removed and added again.
@Suite(.slow) struct AddedAgainTests {
  @Test func `a person whom two machines have added has signed before one of them removes the person`() throws
  {
    let world = try SimulatedWorld()
    let (alice, laptop, bob) = (world.seats[0], world.seats[1], world.seats[2])
    try world.change([.remove(bob.person)], at: alice)
    for seat in [alice, laptop, bob] { try world.sync(seat) }
    // Otherwise both machines would make the same commit.
    try world.add("of Alice", at: laptop)
    try world.change(world.edits(adding: bob.person), at: laptop)
    for seat in [laptop, bob] { try world.sync(seat) }
    try world.add("of Bob", at: bob)
    try world.sync(bob)
    // The first of the two policies is that of the remote.
    try world.change(world.edits(adding: bob.person), at: alice)
    try world.change([.leave(bob.person, group: GroupName.default)], at: alice)
    let report = try world.sync(alice)
    #expect(report.refused.isEmpty && report.signedAgain == 1)
    for seat in [laptop, bob, alice] { try world.sync(seat) }
    for seat in [alice, laptop] { #expect(try world.texts(seat)["of Bob"] != nil) }
  }

  /// What others do with an item while they refuse a version of it.
  enum Change: CaseIterable {
    case nothing, label, replace, delete
    /// They replace the secret before the refused version, and change the label after it.
    case replaceAndLabel
  }

  @Test(arguments: Change.allCases)
  func `a refused version of a person who has joined the group again is kept`(_ change: Change) throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("web", at: alice)
    try world.change([.join(bob.person, group: "web")], at: alice)
    try world.add("old", to: "web", at: alice)
    for seat in [alice, bob] { try world.sync(seat) }
    let server = "\(alice).example"
    if change == .replaceAndLabel { try world.replace("of Alice", at: alice) }
    bob.clock.jump(bySeconds: 10)
    try world.replace("of Bob", at: bob)
    try world.change([.leave(bob.person, group: "web")], at: alice)
    for seat in [alice, bob] { try world.sync(seat) }
    #expect(try world.sync(alice).refused.count == 1)
    alice.clock.jump(bySeconds: 20)
    switch change {
    case .nothing: break
    case .replace: try world.replace("of Alice", at: alice)
    case .label, .replaceAndLabel:
      try world.change(AttributeChanges(set: [.label: .string("label")]), ofItem: server, at: alice)
    case .delete:
      let keyring = try alice.open()
      try keyring.delete(try keyring.find(Query(predicates: [.equal(.server, .string(server))])).items)
      try alice.commit()
    }
    try world.change([.join(bob.person, group: "web")], at: alice)
    for seat in [alice, bob, alice, bob] {
      let report = try world.sync(seat)
      #expect(report.olderVersions.isEmpty)
    }
    let expected: Set<String> =
      switch change {
      case .nothing, .delete: ["of Bob"]
      case .label: ["old", "of Bob"]
      case .replace, .replaceAndLabel: ["of Alice", "of Bob"]
      }
    for seat in [alice, bob] {
      #expect(try world.sync(seat) == Synchronization.Report())
      #expect(try Set(world.texts(seat).keys) == expected)
      #expect(try seat.open().check().findings.isEmpty)
    }
  }
}
