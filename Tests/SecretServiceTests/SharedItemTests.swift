import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Tests items of collections that other people can read. Programs search all collections, and store in the main one
/// (threat T53).
@Suite(.serialized) struct SharedItemTests {
  private let world: ServiceWorld
  private static let login: ServiceAttributes = ["server": "git.example", "user": "deploy"]

  init() throws {
    world = try ServiceWorld(groups: ["team"])
    try world.store.join(EngineDouble.fingerprint(2), "default", "team")
  }

  private func texts() throws -> [String] {
    let keyring = try world.store.open()
    return try keyring.find(Query()).items.map { "\($0.group) \(try keyring.text(of: $0))" }.sorted()
  }

  @Test func `a rejected password of a group is kept, and the new one is stored in the group`() throws {
    let item = try world.add(Self.login, "old", in: .group("team"))
    #expect(throws: SecretServiceError.self) {
      _ = try world.value(world.service.delete(world.item(item), for: world.sender))
    }
    #expect(try texts() == ["team old"])
    #expect(try world.add(Self.login, "new", replace: true) == item)
    #expect(try texts() == ["team new"])
    #expect(try world.text(of: item) == "new")
    // A program that wants another item gets none for more readers.
    #expect(throws: SecretServiceError.self) { try world.add(Self.login, "second") }
    #expect(try texts() == ["team new"])
  }

  @Test func `a program that names a collection gets its item there`() throws {
    try world.add(Self.login, "of default")
    try world.add(Self.login, "of team", replace: true, in: .group("team"))
    #expect(try texts() == ["default of default", "team of team"])
    // Now the main collection is not clear any more.
    #expect(throws: SecretServiceError.self) { try world.add(Self.login, "new", replace: true) }
    #expect(try texts() == ["default of default", "team of team"])
  }

  @Test func `an item of a group of other people is neither replaced nor joined by another one`() throws {
    try world.add(Self.login, "old", in: .group("team"))
    try world.store.leave(world.store.owner, "team")
    #expect(throws: SecretServiceError.self) { try world.add(Self.login, "new", replace: true) }
    #expect(try world.store.open().find(Query()).items.map(\.group) == ["team"])
  }

  @Test func `an item is removed if neither it nor a new one has other readers`() throws {
    let bob = EngineDouble.fingerprint(2)
    try world.store.leave(bob, "team")
    let item = try world.add(Self.login, "old", in: .group("team"))
    #expect(throws: SecretServiceError.self) {
      _ = try world.value(world.service.delete(world.item(item), for: world.sender))
    }
    try world.store.leave(bob, "default")
    _ = try world.value(world.service.delete(world.item(item), for: world.sender))
    #expect(try texts() == [])
  }

  @Test(
    arguments: [
      ["server": "git.example", "user": "Deploy"],
      ["server": "GIT.example.", "user": "deploy", "protocol": "http"],
      ["service": "https://git.example/", "username": "deploy"],
      ["service": "git.example", "account": "deploy"],
      ["service": "git:https://git.example", "account": "deploy"],
      ["service": "gh:git.example", "username": "deploy"],
      ["service": "git.example", "login": "deploy"],
      ["host": "git.example", "user": "deploy"], ["hostname": "git.example:443", "username": "deploy"],
      ["domain": "git.example", "nick": "Deploy"], ["uri": "https://git.example/", "name": "deploy"],
    ] as [ServiceAttributes])
  func `other attributes of a shared account are not stored for more readers`(attributes: ServiceAttributes)
    throws
  {
    try world.store.leave(EngineDouble.fingerprint(2), "team")
    try world.add(Self.login, "old", in: .group("team"))
    #expect(throws: SecretServiceError.self) { try world.add(attributes, "new", replace: true) }
    #expect(try texts() == ["team old"])
    try world.add(attributes, "on purpose", in: .group("team"))
    try world.add(["server": "git.example", "user": "other"], "new")
    #expect(try texts() == ["default new", "team old", "team on purpose"])
  }

  @Test func `attributes that several accounts have in common do not make them one`() throws {
    try world.store.leave(EngineDouble.fingerprint(2), "team")
    let schema = "org.gnome.keyring.NetworkPassword"
    try world.add(
      ["xdg:schema": schema, "server": "git.example", "protocol": "https", "user": "deploy"], "old",
      in: .group("team"))
    try world.add(
      ["xdg:schema": schema, "server": "git.example", "protocol": "https", "user": "other"], "a")
    try world.add(
      ["xdg:schema": schema, "server": "other.example", "protocol": "https", "user": "deploy"], "b")
    try world.add(["application": "mailer", "profile": "deploy"], "c")
    #expect(try texts() == ["default a", "default b", "default c", "team old"])
  }

  @Test func `an item of a group that another person has removed is not stored for more readers`() throws {
    try world.store.leave(EngineDouble.fingerprint(2), "team")
    for attributes in [Self.login, ["application": "mailer", "profile": "work"]] {
      try world.add(attributes, "old", in: .group("team"))
      let item = try #require(try world.store.open().find(Query()).items.first)
      try world.store.receiveRemoval(of: item)
      for replace in [false, true] {
        #expect(throws: SecretServiceError.self) { try world.add(attributes, "new", replace: replace) }
      }
      #expect(try texts() == [])
    }
    try world.add(Self.login, "on purpose", in: .group("team"))
    try world.add(Self.login, "new", replace: true)
    #expect(try texts() == ["team new"])
  }
}
