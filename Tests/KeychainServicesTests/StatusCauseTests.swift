import Foundation
import KeychainTestSupport
import Security
import TestSupport
import Testing

@testable import KeychainServices

/// Tests that the message of a status has the cause and the path if the store cannot be used.
@Suite(.serialized, .waits) struct StatusCauseTests {
  private static var query: [AnyHashable: Any] { [kSecClass: kSecClassGenericPassword] }

  private static func message(_ status: OSStatus) -> String {
    SecCopyErrorMessageString(status, nil) as String? ?? ""
  }

  /// Calls a function with other settings, and returns the message of its status.
  private static func message(
    of call: SecItemCall = .find, _ dictionary: [AnyHashable: Any] = query,
    _ change: (inout KeychainSettings) -> Void
  ) -> String {
    KeychainWorld.lock.withLock {
      let before = KeychainSettings.current
      defer { KeychainSettings.current = before }
      var settings = before
      change(&settings)
      KeychainSettings.current = settings
      let status = call(dictionary).status
      #expect(status == errSecNotAvailable)
      return message(status)
    }
  }

  @Test func `the message names the path at which no store is`() {
    let message = Self.message { $0.store = "/nonexistent/store" }
    #expect(message == "No usable keychain is available: there is no store in /nonexistent/store.")
  }

  @Test func `the message names the variable that is missing`() {
    let message = Self.message { $0 = KeychainSettings(environment: [:]) }
    #expect(message == "No usable keychain is available: `HOME` is not set to an absolute path.")
  }

  @Test func `a named store is that of the command, and the message has its path`() throws {
    let home = try Self.home(#"{"stores": {"work": "~/work", "bad": "work"}, "defaultStore": "work"}"#)
    let other = Self.message { $0 = KeychainSettings(environment: ["HOME": home.path]) }
    #expect(other == "No usable keychain is available: there is no store in \(home.path)/work.")
    let variables = ["HOME": home.path, "KEYTREE_STORE": "work"]
    #expect(KeychainSettings(environment: variables).store == "\(home.path)/work")
    #expect(Self.message { $0 = KeychainSettings(environment: variables) } == other)
    let set = Self.message {
      $0 = KeychainSettings(environment: ["HOME": home.path])
      $0.store = "work"
    }
    #expect(set == other)
    let bad = Self.message {
      $0 = KeychainSettings(environment: ["HOME": home.path, "KEYTREE_STORE": "bad"])
    }
    #expect(
      bad
        == "No usable keychain is available: the settings in \(home.path)/.config/keytree/config.json cannot be used: "
        + "`stores.bad` must be an absolute path, or one that begins with `~/`.")
  }

  private static func home(_ settings: String) throws -> ScratchFolder {
    let home = ScratchFolder()
    let folder = URL(fileURLWithPath: "\(home.path)/.config/keytree")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: folder.appendingPathComponent("config.json"))
    return home
  }

  @Test func `settings that another user can change select no store`() throws {
    let home = try Self.home("{}")
    let file = "\(home.path)/.config/keytree/config.json"
    #expect(unsafe chmod(file, 0o666) == 0)
    let message = Self.message { $0 = KeychainSettings(environment: ["HOME": home.path]) }
    #expect(message.contains("another user can change the settings in \(file)"))
  }

  @Test func `the message names GnuPG, and the agent that cannot be reached`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = Self.query
    item[kSecAttrAccount] = "a"
    item[kSecValueData] = Data([1])
    let store = " (store \(world.store.path))."
    var message = Self.message(of: .add, item) { $0.searchPath = "/nonexistent" }
    #expect(
      message.hasPrefix("No usable keychain is available: GnuPG was not found: ") && message.hasSuffix(store))
    #expect(SecItemCall.add(item).status == errSecSuccess)
    let socket = "\(world.store.gnupg.home)/S.gpg-agent"
    try #require(FileManager.default.fileExists(atPath: socket))
    world.store.gnupg.stopAgent()
    try FileManager.default.createDirectory(atPath: socket + "/full", withIntermediateDirectories: true)
    item[kSecAttrAccount] = "b"
    message = Self.message(of: .add, item) { _ in }
    #expect(
      message.hasPrefix("No usable keychain is available: the GnuPG agent cannot be reached: ")
        && message.hasSuffix(store), "\(message)")
  }

  @Test func `an answer about an item has no cause`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    #expect(SecItemCall.find(Self.query).status == errSecItemNotFound)
    #expect(Self.message(errSecItemNotFound) == "No item matches.")
  }
}
