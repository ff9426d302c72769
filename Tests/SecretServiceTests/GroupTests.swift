import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Tests creating and deleting collections.
@Suite(.serialized) struct GroupTests {
  private let world: ServiceWorld
  private var service: SecretService { world.service }

  init() throws { world = try ServiceWorld(groups: ["team"]) }

  @Test(arguments: [
    ("Login", "Login"), ("My Passwords!", "My-Passwords"), ("", "collection"), ("\u{E4}\u{F6}", "collection"),
    ("default", "default-2"), ("team", "team-3"), ("-x-", "x"), ("a..b", "a..b"),
    (String(repeating: "n", count: 500), String(repeating: "n", count: 92)),
  ])
  func `the name of a group follows the label`(label: String, name: String) {
    #expect(SecretService.groupName(for: label, besides: ["default", "team", "team-2"]) == name)
    #expect(GroupName.isValid(name))
  }

  @Test func `an alias that exists needs no prompt`() throws {
    let (collection, prompt) = try service.createCollection(
      label: "Mine", alias: "default", for: world.sender)
    #expect(collection == ServiceWorld.defaultPath)
    #expect(prompt == .none)
    #expect(try service.properties(of: .group("default")).label == "Mine")
    let memory = try service.createCollection(label: nil, alias: "session", for: world.sender)
    #expect(memory.collection == ObjectPath(.session))
    #expect(world.agent.questions.isEmpty)
  }

  @Test func `a new collection is a group of the user alone, after a question`() throws {
    let (collection, prompt) = try service.createCollection(
      label: "My Work", alias: "work", for: world.sender)
    #expect(collection == .none)
    _ = service.takeEvents()
    let work = try #require(try service.prompt(world.prompt(prompt), for: world.sender))
    try service.finish(work.run())
    #expect(
      world.agent.questions == ["Create the group \"My-Work\" in Keytree, with you as its only member?"])
    let path = ObjectPath(.group("My-Work"))
    world.clock.advance(.seconds(1))
    let events = service.takeEvents()
    #expect(events.contains(.collectionCreated(path)))
    #expect(events.last == .promptCompleted(prompt, to: world.sender, isDismissed: false, .path(path)))
    #expect(try service.readAlias("work") == path)
    #expect(try service.properties(of: .group("My-Work")).label == "My Work")
    #expect(try world.store.open().policy.groups["My-Work"] == [world.store.owner])
    #expect(world.changes.count == 1)
    try world.add(["a": "1"], in: .group("My-Work"))
  }

  @Test func `pending changes are committed before a group is created or deleted`() throws {
    let (_, prompt) = try service.createCollection(label: "X", alias: "", for: world.sender)
    _ = try world.run(prompt)
    #expect(world.history.count == 1)
    world.history.breakDown()
    let (_, second) = try service.createCollection(label: "Y", alias: "", for: world.sender)
    #expect(
      try world.run(second) == .promptCompleted(second, to: world.sender, isDismissed: true, .path(.none)))
    let third = try service.delete(.group("X"), for: world.sender)
    #expect(try world.run(third) == .promptCompleted(third, to: world.sender, isDismissed: true, .nothing))
    #expect(try world.store.open().policy.groups.keys.sorted() == ["X", "default", "team"])
    #expect(world.reports.count == 2)
  }

  @Test func `nothing is created if the user declines or the client dismisses`() throws {
    world.agent.agrees = false
    let (_, prompt) = try service.createCollection(label: "X", alias: "", for: world.sender)
    #expect(
      try world.run(prompt) == .promptCompleted(prompt, to: world.sender, isDismissed: true, .path(.none)))
    world.agent.agrees = true
    let (_, second) = try service.createCollection(label: "X", alias: "", for: world.sender)
    let work = try #require(try service.prompt(world.prompt(second), for: world.sender))
    try service.dismiss(world.prompt(second), for: world.sender)
    try service.finish(work.run())
    world.clock.advance(.seconds(1))
    #expect(
      service.takeEvents() == [.promptCompleted(second, to: world.sender, isDismissed: true, .path(.none))])
    #expect(try world.store.open().policy.groups["X"] == nil)
  }

  @Test func `a name that was taken meanwhile is not used`() throws {
    let prompts = try (0..<2).map { _ in
      try service.createCollection(label: "Twice", alias: "", for: world.sender).prompt
    }
    _ = try world.run(prompts[0])
    let last = try world.run(prompts[1])
    #expect(last == .promptCompleted(prompts[1], to: world.sender, isDismissed: true, .path(.none)))
    #expect(world.reports.count == 1)
  }

  @Test func `only an admin can create and delete collections`() throws {
    let other = EngineDouble.fingerprint(2)
    try world.store.join(other, "default")
    try world.store.changePolicy { policy in
      policy.people[other]?.role = .admin
      policy.people[world.store.owner]?.role = .member
    }
    let service = try world.restarted()
    expect(.notSupported) { try service.createCollection(label: "X", alias: "", for: world.sender) }
    expect(.notSupported) { try service.delete(.group("team"), for: world.sender) }
  }

  @Test func `a collection is deleted with its items, after a question`() throws {
    let items = try ["1", "2"].map { try world.add(["n": $0], in: .group("team")) }
    let prompt = try service.delete(.group("team"), for: world.sender)
    _ = service.takeEvents()
    #expect(
      try world.run(prompt) == .promptCompleted(prompt, to: world.sender, isDismissed: false, .nothing))
    #expect(world.agent.questions == ["Delete the group \"team\" in Keytree with its 2 items?"])
    #expect(try world.records().isEmpty)
    #expect(try world.store.open().policy.groups["team"] == nil)
    for path in items + [ObjectPath(.group("team"))] {
      expect(.noSuchObject) { try service.object(at: path, for: world.sender) }
    }
  }

  @Test func `nothing is deleted if the keys cannot be unlocked after the question`() throws {
    _ = try world.add(["n": "1"], in: .group("team"))
    let prompt = try service.delete(.group("team"), for: world.sender)
    _ = service.takeEvents()
    world.agent.unlockFailure = .cancelled
    #expect(
      try world.run(prompt) == .promptCompleted(prompt, to: world.sender, isDismissed: true, .nothing))
    #expect(world.agent.questions.count == 1)
    #expect(try world.records().count == 1)
    #expect(try world.store.open().policy.groups["team"] != nil)
  }

  @Test func `a collection that is not ours alone is not deleted`() throws {
    expect(.notSupported) { try service.delete(.group("default"), for: world.sender) }
    expect(.notSupported) { try service.delete(.session, for: world.sender) }
    expect(.noSuchObject) { try service.delete(.group("none"), for: world.sender) }
    let login = try world.other.add(
      NewItem(itemClass: .internetPassword, attributes: ["server": "x"], group: "team"),
      secret: SecretBytes(text: "x"))
    expect(.notSupported) { try service.delete(.group("team"), for: world.sender) }
    try world.other.delete([login])
    let prompt = try service.delete(.group("team"), for: world.sender)
    // The user has agreed to delete the group as it was.
    guard let work = try service.prompt(world.prompt(prompt), for: world.sender) else { return }
    try world.add(["a": "1"], in: .group("team"))
    try service.finish(work.run())
    world.clock.advance(.seconds(1))
    #expect(
      service.takeEvents().last
        == .promptCompleted(prompt, to: world.sender, isDismissed: true, .nothing))
    #expect(try world.records().count == 1)
    #expect(world.reports.count == 1)
    try world.store.join(EngineDouble.fingerprint(2), "team")
    expect(.notSupported) { try service.delete(.group("team"), for: world.sender) }
  }
}
