import Foundation
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import KeychainServices
@testable import Keyring

/// Tests that secrets stay in memory if the settings ask for it, and only those that may.
@Suite(.serialized) struct KeptSecretTests {
  private let world: StandInWorld
  private let elapsed = Moment()

  /// A clock of elapsed time that only the test advances.
  private final class Moment: Sendable {
    let nanoseconds = Atomic(Int64(0))
  }

  init() throws {
    let elapsed = elapsed
    world = try StandInWorld { host in
      host.fileClock.elapsed = { elapsed.nanoseconds.load(ordering: .relaxed) }
    }
    KeychainSettings.current.keepsSecrets(for: .seconds(60))
  }

  private func add(_ account: String, _ flags: SecAccessControlCreateFlags = []) throws {
    let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
    let control = try #require(made)
    let item: [AnyHashable: Any] = [
      "class": "genp", "acct": account, "accc": control, "v_Data": Data("old".utf8),
    ]
    #expect(SecItemCall.add(item).status == errSecSuccess)
  }

  /// Reads an item.
  ///
  /// - Returns: Its secret, and the number of decryptions that this needed.
  private func read(_ account: String) -> (text: String?, decryptions: Int) {
    let before = world.store.engine.statistics.decryptions
    let answer = SecItemCall.find(["class": "genp", "acct": account, "r_Data": true])
    let text = (answer.result as? Data).map { String(decoding: $0, as: UTF8.self) }
    return (text, world.store.engine.statistics.decryptions - before)
  }

  /// Wipes what this process keeps.
  private func restart() {
    let settings = KeychainSettings.current
    KeychainSettings.current = settings
  }

  @Test func `an item is decrypted once, until the time ends`() throws {
    defer { world.close() }
    try add("bot")
    restart()
    #expect(read("bot") == ("old", 1))
    elapsed.nanoseconds.add(59_000_000_000, ordering: .relaxed)
    #expect(read("bot") == ("old", 0))
    elapsed.nanoseconds.add(1_000_000_000, ordering: .relaxed)
    #expect(read("bot") == ("old", 1))
    restart()
    #expect(read("bot") == ("old", 1))
  }

  @Test func `a secret that the process has stored is not decrypted`() throws {
    defer { world.close() }
    try add("bot")
    #expect(read("bot") == ("old", 0))
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "bot"]
    #expect(SecItemCall.update(query, changes: ["v_Data": Data("new".utf8)]).status == errSecSuccess)
    #expect(read("bot") == ("new", 0))
  }

  @Test func `an item that another process has changed is decrypted again`() throws {
    defer { world.close() }
    try add("bot")
    #expect(read("bot") == ("old", 0))
    let other = try world.store.open()
    let record = try #require(try other.find(Query(predicates: [.equal(.account, "bot")])).items.first)
    try other.update(record, secret: SecretBytes(text: "new"))
    #expect(read("bot") == ("new", 1))
    #expect(read("bot") == ("new", 0))
  }

  @Test func `an item that asks for the user is decrypted each time`() throws {
    defer { world.close() }
    try add("guarded", .userPresence)
    for _ in 0..<2 {
      let asked = world.store.engine.forgetting
      #expect(read("guarded") == ("old", 1))
      #expect(world.store.engine.forgetting == asked + 1)
    }
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "guarded"]
    #expect(SecItemCall.update(query, changes: ["v_Data": Data("new".utf8)]).status == errSecSuccess)
    #expect(read("guarded") == ("new", 1))
    #expect(try keptSecrets().count == 0)
  }

  @Test func `a kept secret is wiped when its item begins to ask for the user`() throws {
    defer { world.close() }
    try add("bot")
    #expect(read("bot") == ("old", 0))
    #expect(try keptSecrets().count == 1)
    let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
    let control = try #require(made)
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "bot"]
    #expect(SecItemCall.update(query, changes: ["accc": control]).status == errSecSuccess)
    for _ in 0..<2 { #expect(read("bot") == ("old", 1)) }
    #expect(try keptSecrets().count == 0)
  }

  @Test func `nothing is kept unless the settings ask for it`() throws {
    defer { world.close() }
    KeychainSettings.current.keepsSecrets(for: .zero)
    try add("bot")
    for _ in 0..<2 { #expect(read("bot") == ("old", 1)) }
  }

  @Test(
    "the variable is a whole number of seconds, at most a day",
    arguments: [
      (nil, 0), ("", 0), ("0", 0), ("-5", 0), ("soon", 0), ("1.5", 0), ("60", 60), ("1000000", 86_400),
    ] as [(String?, Int)])
  func variable(_ text: String?, _ seconds: Int) {
    defer { world.close() }
    let environment = text.map { ["KEYTREE_KEEP_SECRETS": $0] } ?? [:]
    #expect(KeychainSettings(environment: environment).secretLifetime == .seconds(seconds))
  }

  private func keptSecrets() throws -> KeptSecrets {
    try #require(try KeychainSession.shared.keyring().keptSecrets)
  }
}
