import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

extension SimulatedWorld {
  /// Adds an item. Without a name, it is named after the seat.
  func add(
    _ secret: String, named name: String? = nil, to group: String = GroupName.default, at seat: SimulatedSeat
  ) throws {
    var item = NewItem.login("\(name ?? "\(seat)").example", "me")
    item.group = group
    try seat.open().add(item, secret: SecretBytes(text: secret))
    try seat.commit()
  }

  /// Replaces the secret of the item that Alice has added.
  func replace(_ secret: String, at seat: SimulatedSeat) throws {
    let keyring = try seat.open()
    let server = "\(seats[0]).example"
    let item = try #require(
      try keyring.find(Query(predicates: [.equal(.server, .string(server))])).items.first)
    try keyring.update(item, secret: SecretBytes(text: secret))
    try seat.commit()
  }

  /// Changes people and groups.
  func change(_ edits: [PolicyEdit], at seat: SimulatedSeat) throws {
    let keyring = try seat.open()
    let isAdding = edits.contains { if case .add = $0 { true } else { false } }
    let keys = isAdding ? keyFiles.filter { !keyring.policy.isMember($0.key) } : [:]
    _ = try keyring.make(try keyring.plan(edits, newKeys: keys))
    try seat.commit()
  }

  /// Creates a group with one member.
  func create(_ group: String, at seat: SimulatedSeat) throws {
    try change([.create(group: group), .join(seat.person, group: group)], at: seat)
  }

  /// Changes an item.
  func change(
    _ changes: AttributeChanges, ofItem server: String, at seat: SimulatedSeat
  ) throws {
    let keyring = try seat.open()
    let query = Query(predicates: [.equal(.server, .string(server))])
    try keyring.update(try #require(try keyring.find(query).items.first), changes)
    try seat.commit()
  }
}
