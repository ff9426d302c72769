import Foundation
import KeychainPasswords
import KeychainServices
import KeychainTestSupport
import Keyring
import TestSupport
import Testing

/// Tests typed passwords in a real store.
@Suite(.serialized, .waits) struct StoreTests {
  private let passwords = Passwords()
  private let bot = GenericPassword(
    service: "mailer", account: "bot", details: PasswordDetails(label: "Build mails", kind: "API token"))

  @Test func `a password is saved, read, described, renamed and removed`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    #expect(try passwords.save("first".utf8, for: bot) == .added)
    #expect(throws: KeychainError.duplicateItem) { try passwords.add("again".utf8, for: bot) }
    #expect(
      try passwords.save([0, 255, 10], for: GenericPassword(service: "mailer", account: "bot")) == .updated)
    let (secret, stored) = try #require(try passwords.secretWithAttributes(for: bot))
    #expect(secret == Data([0, 255, 10]))
    #expect(stored.password.details.label == "Build mails" && stored.password.details.kind == "API token")
    #expect(stored.password.accessGroup == "default")
    #expect(try #require(stored.created) < #require(stored.modified))

    var renamed = stored.password
    renamed.account = "robot"
    renamed.details.label = "Mails"
    try passwords.update(stored.password, to: renamed)
    #expect(try passwords.secret(for: bot) == nil)
    #expect(try passwords.list(GenericPassword.self).map(\.password) == [renamed])
    #expect(try passwords.secret(for: renamed) == secret)
    try passwords.save([], for: bot)
    #expect(throws: KeychainError.duplicateItem) { try passwords.update(bot, to: renamed) }
    #expect(try passwords.delete(renamed))
    #expect(try !passwords.delete(renamed))
    #expect(try passwords.secret(for: bot) == Data(), "not the removed item")
  }

  /// Runs git in a store, and returns its output.
  @discardableResult
  private func git(_ store: GnuPGStore, _ words: String...) throws -> String {
    String(decoding: try GnuPGTool.run("git", ["-C", store.path] + words), as: UTF8.self)
  }

  @Test func `a password that is saved twice and deleted has each version in the history`() throws {
    let world = try KeychainWorld()
    let store = world.store
    do {
      defer { world.close() }
      try git(store, "init", "-q", "-b", "main")
      #expect(try passwords.save("first".utf8, for: bot) == .added)
      #expect(try passwords.save("second".utf8, for: bot) == .updated)
      #expect(try passwords.delete(bot))
    }
    let item = "generic-password/mailer/bot"
    #expect(
      try git(store, "log", "--format=%s") == "remove \(item)\nchange \(item)\nmake the keyring\n")
    for (commit, secret) in [("HEAD~2", "first"), ("HEAD~1", "second")] {
      let message = try GnuPGTool.run(
        "git", ["-C", store.path, "cat-file", "blob", "\(commit):items/\(item).gpg"])
      #expect(try store.gnupg.run(["--decrypt"], input: message) == Array(secret.utf8))
    }
    #expect(try git(store, "status", "--porcelain") == "")
  }

  @Test func `a program that adds items and exits has committed them`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let (store, host) = (world.store, world.store.host)
    try git(store, "init", "-q", "-b", "main")
    // `secitem-benchmark` is beside the tests.
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: tests).deletingLastPathComponent().path + "/secitem-benchmark"
    let state = "\(host.stateBase)-home"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: "\(state)/keytree", withDestinationPath: host.stateBase)
    try GnuPGTool.run(
      "env",
      [
        "KEYTREE_STORE=\(store.path)", "GNUPGHOME=\(host.gnupgHome ?? "")",
        "XDG_RUNTIME_DIR=\(host.engineBase)", "XDG_STATE_HOME=\(state)", program, "pairs", "2",
      ])
    #expect(try git(store, "log", "--format=%s") == "make the keyring\n")
    #expect(try git(store, "ls-files", "items").split(separator: "\n").count == 5)
    #expect(try git(store, "status", "--porcelain") == "")
  }

  private static let sites: [InternetPassword] = [
    InternetPassword(server: "a.example"), InternetPassword(server: "a.example", account: "me"),
    InternetPassword(server: "a.example", account: "me", protocol: .https),
    InternetPassword(server: "a.example", account: "me", protocol: .https, port: 8443),
    InternetPassword(server: "a.example", account: "me", path: "/x"),
    InternetPassword(server: "a.example", account: "me", authenticationType: .httpDigest),
    InternetPassword(
      server: "a.example", account: "me",
      authenticationType: InternetPassword.AuthenticationType(rawValue: "totp")),
    InternetPassword(
      server: "a.example", account: "me", protocol: InternetPassword.NetworkProtocol(rawValue: "gopher")),
    InternetPassword(server: "a.example", account: "me", securityDomain: "realm"),
    InternetPassword(server: "a.example", account: "me", isSynchronizable: true),
  ]

  @Test func `every part of a primary key distinguishes items`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    for (number, site) in Self.sites.enumerated() {
      #expect(try passwords.save([UInt8(number)], for: site) == .added, "\(site)")
    }
    for (number, site) in Self.sites.enumerated() {
      #expect(try passwords.secret(for: site) == Data([UInt8(number)]), "\(site)")
    }
    let listed = try passwords.list(InternetPassword.self, .server("a.example")).map(\.password)
    let expected = Self.sites.map { site in
      var site = site
      (site.accessGroup, site.details.accessibility) = ("default", .whenUnlocked)
      return site
    }
    #expect(listed == expected)
    #expect(try passwords.list(InternetPassword.self, .protocol(.https)).map(\.password.port) == [nil, 8443])
    #expect(try passwords.list(InternetPassword.self, .port(0), .synchronizable(true)).count == 1)
    #expect(try passwords.list(GenericPassword.self).isEmpty)
    #expect(try passwords.deleteAll(InternetPassword.self, .protocol(.https)))
    #expect(try passwords.list(InternetPassword.self).count == Self.sites.count - 2)
  }

  @Test func `unacceptable input is refused with the matching error`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = bot
    item.accessGroup = "team"
    #expect(throws: KeychainError.missingEntitlement) { try passwords.save([], for: item) }
    #expect(throws: KeychainError.missingEntitlement) {
      try passwords.list(GenericPassword.self, .accessGroup("team"))
    }
    item = bot
    item.details.accessibility = Accessibility(rawValue: "zz")
    #expect(throws: KeychainError.invalidParameter) { try passwords.save([], for: item) }
    let large = [UInt8](repeating: 1, count: 2 << 20)
    #expect(throws: KeychainError.dataTooLarge) { try passwords.save(large, for: bot) }
    #expect(try passwords.list(GenericPassword.self).isEmpty)
    KeychainSettings.current.store = "/nonexistent/store"
    #expect(throws: KeychainError.notAvailable) { try passwords.secret(for: bot) }
  }

  @Test func `an item that stays on this machine is kept separately`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = bot
    item.details.accessibility = .afterFirstUnlockThisDeviceOnly
    try passwords.save([1], for: item)
    #expect(try world.store.open().find(Query()).items.map(\.isLocal) == [true])
    #expect(try passwords.attributes(of: bot)?.password.details.accessibility == item.details.accessibility)
  }

  @Test func `an item that stays on this machine stays there through every change`() throws {
    let pinentry = try Pinentry.answering()
    let world = try KeychainWorld(
      owner: .locked, agentConfiguration: ["pinentry-program \(pinentry.program)"])
    defer { world.close() }
    var (item, asking) = (bot, bot)
    item.details.accessibility = .afterFirstUnlockThisDeviceOnly
    asking.details.requiresUserPresence = true
    try passwords.save([1], for: item)
    let uses: [(name: String, asks: Bool, use: () throws -> Void)] = [
      ("a save", false, { try passwords.save([2], for: bot) }),
      ("a save with user presence", true, { try passwords.save([3], for: asking) }),
      ("an update that removes user presence", false, { try passwords.update(asking, to: bot) }),
      ("an update with user presence", true, { try passwords.update(bot, to: asking) }),
    ]
    for (name, asks, use) in uses {
      try use()
      let details = try #require(try passwords.attributes(of: bot)).password.details
      #expect(details.accessibility == item.details.accessibility, "\(name)")
      #expect(details.requiresUserPresence == asks, "\(name)")
      #expect(try world.store.open().find(Query()).items.map(\.isLocal) == [true], "\(name)")
    }
  }

  @Test func `an item with user presence prompts each time its secret is read, and never otherwise`() throws {
    let pinentry = try Pinentry.answering()
    let world = try KeychainWorld(
      owner: .locked, agentConfiguration: ["pinentry-program \(pinentry.program)"])
    defer { world.close() }
    var item = bot
    item.details.requiresUserPresence = true
    #expect(try passwords.save([1], for: item) == .added)
    let before = pinentry.count
    for round in 1...2 {
      #expect(try passwords.secret(for: bot) == Data([1]))
      #expect(pinentry.count == before + round)
    }
    #expect(try passwords.list(GenericPassword.self).map(\.password.details.requiresUserPresence) == [true])
    #expect(throws: KeychainError.interactionNotAllowed) {
      try Passwords(interaction: .notAllowed).secret(for: bot)
    }
    #expect(pinentry.count == before + 2)
  }

  @Test func `an item that another program stored with bytes instead of text is found`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let item: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: Data("mailer".utf8),
      kSecAttrAccount as String: Data("bot".utf8), kSecValueData as String: Data([1]),
    ]
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    #expect(try passwords.save([2], for: bot) == .updated)
    #expect(try passwords.list(GenericPassword.self).map(\.password.account) == ["bot"])
  }

  @Test func `a damaged item is reported and not treated as missing`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    try passwords.save([1], for: bot)
    let file = "\(world.store.path)/items/generic-password/mailer/bot.gpg"
    try Data("no message".utf8).write(to: URL(fileURLWithPath: file))
    #expect(throws: KeychainError.damaged) { try passwords.secret(for: bot) }
    #expect(try passwords.attributes(of: bot) != nil)
  }

  @Test func `threads that save one item at once leave one item, and none of them fails`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    try ThreadGroup.run(8) { member in
      for round in 0..<20 { try passwords.save([UInt8(member), UInt8(round)], for: bot) }
    }
    #expect(try passwords.list(GenericPassword.self).count == 1)
    let secret = try #require(try passwords.secret(for: bot))
    #expect(secret.count == 2 && secret[0] < 8 && secret[1] == 19, "the last save of one of them")
  }

  @Test func `threads that save and remove one item at once never fail`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    try ThreadGroup.run(3) { member in
      for round in 0..<10 {
        if (member + round) % 2 == 0 {
          try passwords.save([UInt8(round)], for: bot)
        } else {
          try passwords.delete(bot)
        }
      }
    }
    #expect(try passwords.list(GenericPassword.self).count <= 1)
    #expect(try world.store.open().check(decrypts: true).findings == [])
  }
}
