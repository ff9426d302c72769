import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Tests collections, aliases and labels.
@Suite(.serialized) struct CollectionTests {
  private static func path(_ name: String) -> ObjectPath {
    ObjectPath("/org/freedesktop/secrets/collection/\(name)")
  }

  private static func alias(_ name: String) -> ObjectPath {
    ObjectPath("/org/freedesktop/secrets/aliases/\(name)")
  }

  @Test func `the groups of the user are collections`() throws {
    let world = try ServiceWorld(groups: ["b-team", "a", "session"])
    try world.store.changePolicy { $0.groups["foreign"] = [] }
    let service = try world.restarted()
    #expect(
      service.collections
        == ["default", "a", "b_2dteam", "_73ession", "session"].map(Self.path))
    expect(.noSuchObject) { try service.object(at: Self.path("foreign"), for: world.sender) }
    #expect(
      try service.object(at: Self.path("b_2dteam"), for: world.sender) == .collection(.group("b-team")))
  }

  @Test(arguments: [
    "/", "/org/freedesktop", "/org/freedesktop/secrets/", "/org/freedesktop/secrets/collection",
    "/org/freedesktop/secrets/collection/", "/org/freedesktop/secrets/collection/none",
    "/org/freedesktop/secrets/collection/default/", "/org/freedesktop/secrets/collection/default/1",
    "/org/freedesktop/secrets/collection/default/00000000000000000000000000000000",
    "/org/freedesktop/secrets/collection/default/0/1", "/org/freedesktop/secrets/aliases/none",
    "/org/freedesktop/secrets/session/1", "/org/freedesktop/secrets/prompt/1",
    "/org/freedesktop/secrets/prompt/00000000000000000000000000000000", "/org/freedesktop/secretsx",
  ])
  func `a path without an object is refused`(path: String) throws {
    let world = try ServiceWorld()
    expect(.noSuchObject) { try world.service.object(at: ObjectPath(path), for: world.sender) }
  }

  @Test func `aliases are live objects with real paths`() throws {
    let world = try ServiceWorld(groups: ["team"])
    let service = world.service
    let path = try world.add(["a": "b"])
    for name in ["default", "login"] {
      #expect(try service.readAlias(name) == Self.path("default"))
      #expect(try service.object(at: Self.alias(name), for: world.sender) == .collection(.group("default")))
      let item = ObjectPath("\(Self.alias(name))/\(path.text.suffix(32))")
      #expect(try service.object(at: item, for: world.sender) == .item(world.item(path)))
    }
    #expect(try service.readAlias("session") == Self.path("session"))
    #expect(try service.object(at: Self.alias("session"), for: world.sender) == .collection(.session))
    #expect(try service.readAlias("other") == .none)
  }

  @Test func `an alias moves, and survives a restart`() throws {
    let world = try ServiceWorld(groups: ["team"])
    let service = world.service
    try service.setAlias("default", to: Self.path("team"))
    try service.setAlias("l\u{F6}schen/1", to: Self.alias("login"))
    try service.setAlias("memory", to: Self.path("session"))
    try service.setAlias("gone", to: Self.path("team"))
    try service.setAlias("gone", to: .none)
    // Aliases that are gone do not count.
    for number in 0..<65 {
      try service.setAlias("\(number)", to: Self.path("team"))
      try service.setAlias("\(number)", to: .none)
    }
    try service.setAlias("login", to: .none)
    for service in [service, try world.restarted()] {
      #expect(try service.readAlias("default") == Self.path("team"))
      #expect(try service.readAlias("l\u{F6}schen/1") == Self.path("default"))
      #expect(try service.readAlias("memory") == Self.path("session"))
      #expect(try service.readAlias("gone") == .none)
      #expect(try service.readAlias("login") == .none)
      #expect(
        try service.object(at: Self.alias("l_c3_b6schen_2f1"), for: world.sender)
          == .collection(.group("default")))
    }
    let file = try #require(
      FileManager.default.enumerator(atPath: world.store.host.stateBase)?.allObjects
        .compactMap { $0 as? String }.first { $0.hasSuffix("/secret-service.json") })
    let full = "\(world.store.host.stateBase)/\(file)"
    let text = String(decoding: FileManager.default.contents(atPath: full) ?? Data(), as: UTF8.self)
    #expect(
      text == """
        {"aliases":{"default":"team","login":null,"l\u{F6}schen/1":"default","memory":"session"},\
        "format":1,"labels":{}}

        """)
    let mode = try FileManager.default.attributesOfItem(atPath: full)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func `an alias must be short, and name a collection`() throws {
    let world = try ServiceWorld()
    let service = world.service
    let path = try world.add(["a": "b"])
    expect(.invalidArguments) { try service.setAlias("", to: Self.path("default")) }
    expect(.invalidArguments) {
      try service.setAlias(String(repeating: "a", count: 65), to: Self.path("default"))
    }
    expect(.notSupported) { try service.setAlias("session", to: Self.path("default")) }
    for target in [path, Self.path("none"), .service, world.session] {
      expect(.noSuchObject) { try service.setAlias("x", to: target) }
    }
    for number in 0..<64 { try service.setAlias("\(number)", to: Self.path("default")) }
    expect(.limitsExceeded) { try service.setAlias("64", to: Self.path("default")) }
    try service.setAlias("63", to: Self.path("session"))
  }

  @Test func `a label belongs to this machine and is reported`() throws {
    let world = try ServiceWorld()
    let service = world.service
    let id = CollectionID.group("default")
    #expect(try service.properties(of: id).label == "default")
    #expect(try service.properties(of: .session).label == "session")
    let before = StoreDigest(of: world.store.path)
    try service.setLabel("Login", of: id)
    #expect(StoreDigest(of: world.store.path) == before)
    #expect(
      service.takeEvents() == [
        .collectionProperties(Self.path("default"), [.label("Login")]),
        .collectionChanged(Self.path("default")),
      ])
    try service.setLabel("Login", of: id)
    #expect(service.takeEvents().isEmpty)
    #expect(try world.restarted().properties(of: id).label == "Login")
    expect(.invalidArguments) { try service.setLabel(String(repeating: "x", count: 4097), of: id) }
  }

  @Test func `damaged local state is an error and stays as it is`() throws {
    let world = try ServiceWorld()
    try world.service.setAlias("x", to: Self.path("default"))
    let file = "\(world.service.stateFolder)/secret-service.json"
    for text in [
      "", "{}x", "[]", "{\"format\":2}", "{\"aliases\":{\"x\":1}}", "{\"aliases\":{\"x\":\"a-b\"}}",
    ] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      expect(.failed) { try world.restarted() }
      #expect(FileManager.default.contents(atPath: file) == Data(text.utf8))
    }
    try Data("{\"localSchemas\":[\"org.mine.*\"]}".utf8).write(to: URL(fileURLWithPath: file))
    let service = try world.restarted()
    #expect(service.local.isLocal(schema: "org.mine.Key"))
    #expect(!service.local.isLocal(schema: "org.gnome.OnlineAccounts"))
  }

  @Test func `the times of a collection are those of its items, or of the store`() throws {
    let world = try ServiceWorld(groups: ["team"])
    let service = world.service
    let empty = try service.properties(of: .group("default"))
    #expect(empty.created == 1_700_000_000)
    #expect(empty.modified == 1_700_000_000)
    try world.add(["a": "b"])
    #expect(try service.items(of: .group("default")).count == 1)
    #expect(try service.items(of: .group("team")).isEmpty)
    #expect(try service.properties(of: .group("default")).modified == 1_700_000_000)
    expect(.noSuchObject) { try service.properties(of: .group("none")) }
    expect(.noSuchObject) { try service.items(of: .group("none")) }
  }

  @Test func `items come newest first, and are those of signals`() throws {
    let world = try ServiceWorld()
    let first = try world.add(["n": "1"])
    let second = try world.add(["n": "2"])
    #expect(try world.service.items(of: .group("default")) == [second, first])
    #expect(try world.restarted().items(of: .group("default")) == [second, first])
  }

  @Test func `a user outside of the default group has no default collection`() throws {
    let world = try ServiceWorld()
    let other = EngineDouble.fingerprint(2)
    try world.store.join(other, "default", "other")
    try world.store.changePolicy { policy in
      policy.groups["team"] = policy.groups["default"]
      policy.groups["default"] = [other]
    }
    let service = try world.restarted()
    #expect(try service.readAlias("default") == .none)
    #expect(service.collections == [Self.path("other"), Self.path("team"), Self.path("session")])
  }

  // MARK: In memory

  @Test func `the collection in memory has items like the others`() throws {
    let world = try ServiceWorld()
    let service = world.service
    let path = try world.add(["a": "1"], "one", label: "One", in: .session)
    #expect(path.text.hasPrefix("/org/freedesktop/secrets/collection/session/"))
    #expect(try world.text(of: path) == "one")
    #expect(try world.add(["a": "1"], "two", label: "Two", replace: true, in: .session) == path)
    #expect(try world.text(of: path) == "two")
    let second = try world.add(["a": "1"], "three", in: .session)
    #expect(try service.searchItems(["a": "1"], in: .session) == [second, path])
    #expect(try service.items(of: .session) == [second, path])
    world.clock.advance(.seconds(5))
    let item = try world.item(path)
    _ = try world.value(service.setSecret(world.secret("four"), of: item, for: world.sender))
    _ = try world.value(service.setLabel("Four", of: item, for: world.sender))
    _ = try world.value(service.setAttributes(["b": "2"], of: item, for: world.sender))
    let properties = try service.properties(of: item)
    #expect(properties.label == "Four")
    #expect(properties.attributes == ["b": "2"])
    #expect(properties.modified == properties.created + 5)
    #expect(try service.properties(of: .session).modified == properties.modified)
    #expect(try world.search(["b": "2"]) == [path])
    _ = try world.value(service.delete(item, for: world.sender))
    expect(.noSuchObject) { try service.object(at: path, for: world.sender) }
    #expect(try world.records().isEmpty)
    #expect(world.store.engine.statistics.encryptions == 0)
  }

  @Test func `the collection in memory is never locked, and does not survive a restart`() throws {
    let world = try ServiceWorld()
    let path = try world.add(["a": "1"], in: .session)
    world.agent.isCached = false
    let result = try world.value(world.service.lock([Self.path("session")], for: world.sender))
    #expect(result == LockResult(paths: [Self.path("session")], prompt: .none))
    #expect(world.agent.forgotten == 0)
    #expect(try !world.service.properties(of: .session).isLocked)
    #expect(try world.service.searchItems(["a": "1"]) == FoundItems(unlocked: [path], locked: []))
    #expect(try world.text(of: path) == "secret")
    #expect(try world.restarted().items(of: .session).isEmpty)
  }

  @Test func `the collection in memory is bounded`() throws {
    let world = try ServiceWorld()
    let large = WireSecret(
      session: world.session, parameters: [],
      value: SecretSlice(SecretBytes(copying: [UInt8](repeating: 0, count: 1 << 20))), contentType: "")
    func add(_ name: String) throws -> ObjectPath {
      try world.value(
        world.service.createItem(
          NewItemProperties(attributes: ["n": name]), large, replace: false, in: .session, for: world.sender))
    }
    for number in 0..<15 { _ = try add("\(number)") }
    expect(.limitsExceeded) { try add("15") }
    let path = try world.add(["n": "16"], in: .session)
    expect(.limitsExceeded) {
      try world.service.setSecret(large, of: world.item(path), for: world.sender)
    }
    #expect(try world.text(of: path) == "secret")
    for number in 16..<1000 { try world.add(["n": "\(number)x"], in: .session) }
    expect(.limitsExceeded) { try world.add(["n": "last"], in: .session) }
    _ = try world.value(world.service.delete(world.item(path), for: world.sender))
    try world.add(["n": "last"], in: .session)
  }
}
