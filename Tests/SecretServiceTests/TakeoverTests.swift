import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Attacks on the secrets of programs by other members of a group.
@Suite(.serialized) struct TakeoverTests {
  private let world: ServiceWorld
  private var service: SecretService { world.service }
  private static let chrome: ServiceAttributes = [
    "xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chrome",
  ]

  /// The user shares `default` with one person and `team` with two. The group `own` is the user's alone.
  init() throws {
    world = try ServiceWorld(groups: ["own"])
    try world.store.join(EngineDouble.fingerprint(2), "default", "team")
    try world.store.join(EngineDouble.fingerprint(3), "team")
  }

  /// Adds an item as another member does: it has any attributes, and is newer than all others.
  @discardableResult
  private func plant(
    _ attributes: ServiceAttributes, in group: String = "default", secret: String = "planted"
  ) throws -> ObjectPath {
    let content = ItemContent(
      label: "", attributes: attributes, secret: SecretSlice(SecretBytes(text: secret)),
      contentType: "text/plain", isLocal: false)
    let change = try ItemChanges(world.store.open()).create(
      content, in: group, isUsual: false, replace: false)
    guard case .stored(let record) = change else { throw SecretServiceError(.failed, "not stored") }
    return ObjectPath(ItemAddress(.group(group), record.id))
  }

  // MARK: Searching

  @Test func `items that only the user can have added come first`() throws {
    let attributes = Self.chrome
    let memory = try world.add(["application": "chrome", "a": "1"], in: .session)
    let own = try plant(["application": "chrome", "a": "1"], in: "own")
    var local = attributes
    local["a"] = "1"
    let machine = try world.add(local)
    let main = try plant(["application": "chrome", "a": "1"])
    let team = try plant(["application": "chrome", "a": "1"], in: "team")
    #expect(
      try world.search(["application": "chrome", "a": "1"]) == [machine, own, memory, main, team])
  }

  @Test func `of shared groups the default collection comes first, then those with fewer members`() throws {
    try world.store.join(EngineDouble.fingerprint(2), "pair")
    let pair = try plant(["a": "1"], in: "pair")
    let team = try plant(["a": "1"], in: "team")
    let main = try plant(["a": "1"])
    let newer = try plant(["a": "1", "b": "2"], in: "team")
    #expect(try world.search(["a": "1"]) == [main, pair, newer, team])
  }

  @Test func `a search for an application alone finds no item that others can read`() throws {
    try plant(Self.chrome)
    try plant(["application": "chrome"], in: "team")
    for attributes in [["application": "chrome"], Self.chrome] as [ServiceAttributes] {
      #expect(try world.search(attributes).isEmpty)
      #expect(try service.searchItems(attributes, in: .group("default")).isEmpty)
    }
    let own = try world.add(Self.chrome)
    #expect(try world.search(["application": "chrome"]) == [own])
    #expect(try world.search(Self.chrome) == [own])
    // Other attributes name one account of a program, which may be shared on purpose.
    let shared = try plant(["application": "bank", "account": "team"])
    #expect(try world.search(["application": "bank", "account": "team"]) == [shared])
    #expect(try world.search(["account": "team"]) == [shared])
  }

  @Test func `an unlocked item of a shared group does not get ahead of a locked one`() throws {
    let mine = try world.add(["a": "1"], in: .group("own"))
    let planted = try plant(["a": "1"], in: "team")
    #expect(try service.searchItems(["a": "1"]) == FoundItems(unlocked: [mine, planted], locked: []))
    service.flagged.insert(.group("own"))
    #expect(try service.searchItems(["a": "1"]) == FoundItems(unlocked: [], locked: [mine, planted]))
    let unlocked = try service.unlock([planted], for: world.sender)
    #expect(unlocked == LockResult(paths: [planted], prompt: .none))
  }

  // MARK: Replacing

  @Test func `a secret of this machine does not replace an item that others receive`() throws {
    let planted = try plant(Self.chrome)
    let own = try world.add(Self.chrome, "key", replace: true)
    #expect(own != planted)
    #expect(try world.text(of: planted) == "planted")
    #expect(try world.records().filter(\.isLocal).map(\.id.hex) == [String(own.text.suffix(32))])
    // A newer planted item changes nothing.
    try plant(Self.chrome)
    #expect(try world.add(Self.chrome, "next", replace: true) == own)
    #expect(try world.text(of: own) == "next")
  }

  @Test func `replacing keeps to the collection that was asked for`() throws {
    let others = try ["default", "team", "own"].map { try plant(["a": "1"], in: $0) }
    // Programs that name no collection store in the main one, and the item that they mean is not clear.
    expect(.failed) { try world.add(["a": "1"], "default", replace: true) }
    for (place, group) in ["default", "team", "own"].enumerated().dropFirst() {
      #expect(try world.add(["a": "1"], group, replace: true, in: .group(group)) == others[place])
      for later in others[(place + 1)...] { #expect(try world.text(of: later) == "planted") }
    }
    let memory = try world.add(["a": "1"], "memory", replace: true, in: .session)
    #expect(!others.contains(memory))
  }

  // MARK: Deleting

  @Test(arguments: ["own", "default"])
  func `deleting an item leaves the fields of other groups`(group: String) throws {
    // Others can read no item that a program may remove.
    try world.store.leave(EngineDouble.fingerprint(2), "default")
    let path = try world.add(["a": "1"], in: .group(group))
    let record = try #require(try world.records().first)
    let keyring = try world.store.open()
    for (name, place) in [("note", group), ("otp", "team")] {
      var field = Attributes()
      for part in [AttributeName.service, .account] { field[part] = record.attributes[part] }
      field[.field] = .string(name)
      try keyring.add(
        NewItem(itemClass: .genericPassword, attributes: field, group: place),
        secret: SecretBytes(text: name))
    }
    _ = try world.value(service.setAttributes(["a": "2"], of: world.item(path), for: world.sender))
    #expect(try keyring.find(.fields(of: record)).items.map(\.group) == ["team"])
    _ = try world.value(service.delete(world.item(path), for: world.sender))
    var query = Query()
    query.includesFields = true
    #expect(try keyring.find(query).items.map(\.group) == ["team"])
  }

  // MARK: Aliases

  private func setAlias(_ alias: String, _ group: String) throws {
    try service.setAlias(alias, to: ObjectPath(.group(group)))
  }

  @Test func `an alias does not move to a group with more readers`() throws {
    expect(.notSupported) { try setAlias("default", "team") }
    expect(.notSupported) { try setAlias("new", "team") }
    try setAlias("default", "own")
    expect(.notSupported) { try setAlias("default", "team") }
    expect(.notSupported) { try service.setAlias("default", to: ServiceWorld.defaultPath) }
    #expect(try service.readAlias("default") == ObjectPath(.group("own")))
  }

  @Test func `no detour moves an alias to a group with more readers`() throws {
    for step in [ObjectPath(.session), ObjectPath(.group("own")), .none] {
      try service.setAlias("login", to: step)
      for group in ["default", "team"] { expect(.notSupported) { try setAlias("login", group) } }
    }
    try setAlias("work", "own")
    try service.setAlias("work", to: .none)
    expect(.notSupported) { try setAlias("work", "team") }
    let restarted = try world.restarted()
    expect(.notSupported) { try restarted.setAlias("work", to: ObjectPath(.group("team"))) }
  }

  @Test func `a group that is created again does not get the aliases and the label of a deleted one`() throws
  {
    try setAlias("default", "own")
    try setAlias("work", "own")
    try service.setLabel("Mine", of: .group("own"))
    let prompt = try service.delete(.group("own"), for: world.sender)
    _ = try world.run(prompt)
    try world.store.join(EngineDouble.fingerprint(2), "own")
    for alias in ["default", "work"] { #expect(try service.readAlias(alias) == .none) }
    #expect(try service.properties(of: .group("own")).label == "own")
  }

  // MARK: Damage

  @Test func `a damaged line is an error even if it no longer has the searched value`() throws {
    try world.add(["a": "first"])
    try world.add(["b": "second"])
    let tree = try world.store.tree()
    for name in try tree.list("index") {
      let text = String(decoding: try tree.read("index/\(name)", limit: 1 << 20) ?? [], as: UTF8.self)
      let damaged = text.replacing("\"ss:a\":\"first\"", with: "\"ss:a\":\"fi")
      try tree.replaceFile("index/\(name)", with: Array(damaged.utf8), temporary: "tmp")
    }
    expect(.failed) { try service.searchItems(["a": "first"]) }
    expect(.failed) { try service.searchItems(["a": "first"], in: .group("default")) }
    // The other item is in another group than the damaged one may be.
    expect(.failed) { try service.searchItems(["b": "second"], in: .group("own")) }
    expect(.failed) { try world.add(["a": "first"], replace: true) }
    #expect(try world.search(["b": "second"]).count == 1)
  }
}
