import Foundation
import Keyring
import KeyringModel
import Secrets
import Security
import TestSupport
import Testing

@testable import KeychainServices

/// Tests requests without `kSecAttrAccessGroup` about items of several groups, and of groups with other members.
@Suite(.serialized) struct SharedItemTests {
  private func request(_ more: [AnyHashable: Any] = [:]) -> [AnyHashable: Any] {
    ["class": "genp", "svce": "api", "acct": "bot"].merging(more) { $1 }
  }

  private func data(_ text: String) -> Data { Data(text.utf8) }

  /// Makes a second person a member of both groups, and adds an item of `team`.
  private func shared(_ group: String = "team") throws -> StandInWorld {
    let world = try StandInWorld()
    try world.store.join(EngineDouble.fingerprint(2), "default", "team")
    #expect(SecItemCall.add(request(["agrp": group, "v_Data": data("old")])).status == errSecSuccess)
    return world
  }

  private func texts(_ world: StandInWorld) throws -> [String] {
    let keyring = try world.store.open()
    return try keyring.find(Query()).items.map { "\($0.group) \(try keyring.text(of: $0))" }.sorted()
  }

  @Test func `an item of a group is a duplicate of a new one, and an update replaces it in its group`() throws
  {
    let world = try shared()
    defer { world.close() }
    #expect(SecItemCall.add(request(["v_Data": data("new")])).status == errSecDuplicateItem)
    #expect(try texts(world) == ["team old"])
    #expect(SecItemCall.update(request(), changes: ["v_Data": data("new")]).status == errSecSuccess)
    #expect(try texts(world) == ["team new"])
    // A program that names the group gets a second item, as on Apple's systems.
    #expect(SecItemCall.add(request(["agrp": "default", "v_Data": data("two")])).status == errSecSuccess)
    #expect(try texts(world) == ["default two", "team new"])
    // Now no secret is written without a group, because the readers of the items differ.
    let unclear = SecItemCall.update(request(), changes: ["v_Data": data("x")])
    #expect(unclear.status == errSecMissingEntitlement)
    #expect(SecItemCall.update(request(), changes: ["labl": "label"]).status == errSecSuccess)
    #expect(
      SecItemCall.update(request(["agrp": "team"]), changes: ["v_Data": data("x")]).status == errSecSuccess)
    #expect(try texts(world) == ["default two", "team x"])
  }

  @Test(arguments: ["team", "default"])
  func `an item that others can read is deleted only with its group`(group: String) throws {
    let world = try shared(group)
    defer { world.close() }
    #expect(SecItemCall.delete(request()).status == errSecMissingEntitlement)
    #expect(SecItemCall.delete(["class": "genp"]).status == errSecMissingEntitlement)
    #expect(try texts(world) == ["\(group) old"])
    #expect(SecItemCall.delete(request(["agrp": group])).status == errSecSuccess)
    #expect(try texts(world) == [])
  }

  @Test func `an item that only the user can read is deleted, in any group`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    #expect(SecItemCall.add(request(["agrp": "team", "v_Data": data("old")])).status == errSecSuccess)
    #expect(SecItemCall.delete(request()).status == errSecSuccess)
    #expect(SecItemCall.add(request(["v_Data": data("new")])).status == errSecSuccess)
    #expect(try texts(world) == ["default new"])
  }

  @Test func `an item that only the user can read is not deleted if others could read a new one`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    try world.store.join(EngineDouble.fingerprint(2), "default")
    #expect(SecItemCall.add(request(["agrp": "team", "v_Data": data("old")])).status == errSecSuccess)
    #expect(SecItemCall.delete(request()).status == errSecMissingEntitlement)
    #expect(try texts(world) == ["team old"])
  }

  @Test func `the settings of a process name its group`() throws {
    let world = try shared()
    defer { world.close() }
    KeychainSettings.current.accessGroup = "team"
    #expect(SecItemCall.delete(request()).status == errSecSuccess)
    #expect(SecItemCall.add(request(["v_Data": data("new")])).status == errSecSuccess)
    #expect(try texts(world) == ["team new"])
  }

  @Test func `an item of a group of other people is no reason to store another one`() throws {
    let world = try shared()
    defer { world.close() }
    try world.store.leave(world.store.owner, "team")
    let add = SecItemCall.add(request(["v_Data": data("new")]))
    #expect(add.status == errSecMissingEntitlement)
    #expect(SecItemCall.delete(request()).status == errSecMissingEntitlement)
    #expect(try world.store.open().find(Query()).items.count == 1)
  }

  @Test func `an item with another protocol has the same name, and the program must name the group`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    let login: [AnyHashable: Any] = ["class": "inet", "srvr": "api.example", "acct": "bot"]
    #expect(SecItemCall.add(login.merging(["agrp": "team"]) { $1 }).status == errSecSuccess)
    let secure = login.merging(["ptcl": "htps"]) { $1 }
    #expect(SecItemCall.add(secure).status == errSecMissingEntitlement)
    #expect(SecItemCall.add(secure.merging(["agrp": "default"]) { $1 }).status == errSecSuccess)
  }

  @Test(arguments: [["acct": "Bot"], ["srvr": "API.example."], ["ptcl": "smtp"]])
  func `another spelling of a shared account is not added for more readers`(spelling: [String: String]) throws
  {
    let world = try StandInWorld()
    defer { world.close() }
    try world.store.join(EngineDouble.fingerprint(2), "default")
    let login: [AnyHashable: Any] = ["class": "inet", "srvr": "api.example", "acct": "bot", "ptcl": "htps"]
    #expect(SecItemCall.add(login.merging(["agrp": "team"]) { $1 }).status == errSecSuccess)
    let other = login.merging(spelling) { $1 }
    #expect(SecItemCall.add(other).status == errSecMissingEntitlement)
    #expect(SecItemCall.add(other.merging(["agrp": "default"]) { $1 }).status == errSecSuccess)
  }
}
