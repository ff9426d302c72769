import Foundation
import KeychainServices
import Testing

@testable import KeychainPasswords

/// Tests how the answers of Apple's functions become results and errors.
@Suite(.serialized)
struct OutcomeTests {
  private static let bot = GenericPassword(service: "mailer", account: "bot")
  private static let stored: [String: any Sendable] = ["svce": "mailer", "acct": "bot", "agrp": "default"]

  // MARK: Concurrent saves

  @Test func `a save continues if the item is added and removed concurrently`() throws {
    // The steps: not found, added by another program, found, removed by another program, not found, added.
    let keychain = StandInKeychain { function, number in
      switch (function, number) {
      case (.find, 1): (errSecSuccess, [Self.stored])
      case (.add, 0): (errSecDuplicateItem, nil)
      case (.add, _): (errSecSuccess, nil)
      default: (errSecItemNotFound, nil)
      }
    }
    #expect(try keychain.passwords().save([1], for: Self.bot) == .added)
    #expect(keychain.calls.map(\.function) == [.find, .add, .find, .update, .find, .add])
    let data = keychain.calls.compactMap { ($0.query["v_Data"] ?? $0.changes["v_Data"]) as? Data }
    #expect(data == [Data([1]), Data([1]), Data([1])])
  }

  @Test func `a save gives up after a number of attempts`() {
    let keychain = StandInKeychain { function, _ in
      (function == .find ? errSecItemNotFound : errSecDuplicateItem, nil)
    }
    #expect(throws: KeychainError.itemNotFound) { try keychain.passwords().save([1], for: Self.bot) }
    #expect(keychain.calls.count == 2 * Passwords.saveAttempts)
  }

  // MARK: Groups

  @Test func `an item in several groups is ambiguous until a group is named`() throws {
    let keychain = StandInKeychain { function, _ in
      guard function == .find else { return (errSecSuccess, nil) }
      return (errSecSuccess, [Self.stored, Self.stored.merging(["agrp": "ops"]) { $1 }])
    }
    let passwords = keychain.passwords()
    let uses: [(String, () throws -> Void)] = [
      ("save", { try passwords.save([1], for: Self.bot) }),
      ("secret", { _ = try passwords.secret(for: Self.bot) }),
      ("attributes", { _ = try passwords.attributes(of: Self.bot) }),
      ("update", { try passwords.update(Self.bot, to: Self.bot) }),
      ("delete", { try passwords.delete(Self.bot) }),
    ]
    for (name, use) in uses {
      #expect(throws: KeychainError.ambiguousItem, "\(name)") { try use() }
    }
    #expect(keychain.calls.allSatisfy { $0.function == .find && $0.query["r_Data"] == nil })
  }

  /// Otherwise it would remove an item that other people can read.
  @Test func `a deletion names a group only if the caller has named it`() throws {
    let keychain = StandInKeychain.holding(Self.stored)
    #expect(try keychain.passwords().delete(Self.bot))
    #expect(keychain.calls.last?.query["agrp"] == nil)
    #expect(keychain.calls.last?.query["m_Limit"] == nil, "Apple's keychain accepts no limit in a deletion")
  }

  // MARK: Statuses

  @Test(arguments: [
    errSecUserCanceled, errSecInteractionNotAllowed, errSecAuthFailed, errSecDecode, errSecNotAvailable,
    errSecMissingEntitlement, errSecUnimplemented, errSecIO, errSecParam,
  ])
  func `every function passes on every status`(_ status: OSStatus) {
    let error = KeychainError(status: status)
    for failing in [StandInKeychain.Function.find, .add, .update, .delete] {
      let passwords = StandInKeychain { function, _ in
        if function == failing { return (status, nil) }
        if function == .find {
          return failing == .add ? (errSecItemNotFound, nil) : (errSecSuccess, [Self.stored])
        }
        return (errSecSuccess, nil)
      }.passwords()
      switch failing {
      case .find:
        #expect(throws: error) { try passwords.secret(for: Self.bot) }
        #expect(throws: error) { try passwords.attributes(of: Self.bot) }
        #expect(throws: error) { try passwords.list(GenericPassword.self) }
        #expect(throws: error) { try passwords.value(Int.self, for: Self.bot) }
      case .add:
        #expect(throws: error) { try passwords.add([], for: Self.bot) }
        #expect(throws: error) { try passwords.save([], for: Self.bot) }
        #expect(throws: error) { try passwords.save(encoding: 1, for: Self.bot) }
      case .update:
        #expect(throws: error) { try passwords.update(Self.bot, to: Self.bot) }
        #expect(throws: error) { try passwords.save([], for: Self.bot) }
      case .delete:
        #expect(throws: error) { try passwords.delete(Self.bot) }
        #expect(throws: error) { try passwords.deleteAll(GenericPassword.self, .service("s")) }
      }
    }
  }

  @Test func `a secret that is refused after its item was found is an error`() {
    let keychain = StandInKeychain { _, number in
      number == 0 ? (errSecSuccess, [Self.stored]) : (errSecUserCanceled, nil)
    }
    #expect(throws: KeychainError.userCanceled) { try keychain.passwords().secret(for: Self.bot) }
  }

  @Test func `a missing item is nil, false or empty, and cannot be updated`() throws {
    let passwords = StandInKeychain.empty().passwords()
    #expect(try passwords.secret(for: Self.bot) == nil)
    #expect(try passwords.attributes(of: Self.bot) == nil)
    #expect(try passwords.value(Int.self, for: Self.bot) == nil)
    #expect(try !passwords.delete(Self.bot))
    #expect(try passwords.list(InternetPassword.self).isEmpty)
    #expect(try !passwords.deleteAll(InternetPassword.self, .server("s")))
    #expect(throws: KeychainError.itemNotFound) { try passwords.update(Self.bot, to: Self.bot) }
  }

  // MARK: Results

  @Test func `an item is returned with its whole name and all details`() throws {
    let found: [String: any Sendable] = [
      "srvr": "a.example", "acct": Data("me".utf8), "ptcl": "htps", "port": 8443, "path": "/x",
      "atyp": "form", "sdmn": "realm", "agrp": "ops", "sync": true, "labl": "L", "desc": "K", "icmt": "C",
      "pdmn": "ck", "cdat": Date(timeIntervalSince1970: 1), "mdat": Date(timeIntervalSince1970: 2),
    ]
    let passwords = StandInKeychain { _, _ in (errSecSuccess, [found]) }.passwords()
    let stored = try #require(try passwords.list(InternetPassword.self).first)
    #expect(
      stored.password
        == InternetPassword(
          server: "a.example", account: "me", protocol: .https, port: 8443, path: "/x",
          authenticationType: .htmlForm, securityDomain: "realm", accessGroup: "ops", isSynchronizable: true,
          details: PasswordDetails(label: "L", kind: "K", comment: "C", accessibility: .afterFirstUnlock)))
    #expect(stored.created == Date(timeIntervalSince1970: 1))
    #expect(stored.modified == Date(timeIntervalSince1970: 2))
  }

  @Test func `missing attributes are returned as their defaults`() throws {
    let found: [String: any Sendable] = ["srvr": "a.example", "ptcl": 0, "port": 0, "atyp": "", "path": ""]
    let passwords = StandInKeychain { _, _ in (errSecSuccess, [found]) }.passwords()
    let stored = try passwords.list(InternetPassword.self).map(\.password)
    #expect(stored == [InternetPassword(server: "a.example")])
  }

  @Test(arguments: [0, 1] as [CFOptionFlags])
  func `user presence is returned as it was set`(_ flags: CFOptionFlags) throws {
    let passwords = StandInKeychain { _, _ in
      let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlocked, SecAccessControlCreateFlags(rawValue: flags), nil)
      return (errSecSuccess, [["svce": "s", "pdmn": "ak", "accc": control as Any]])
    }.passwords()
    let details = try #require(try passwords.attributes(of: GenericPassword(service: "s"))?.password.details)
    #expect(details == PasswordDetails(accessibility: .whenUnlocked, requiresUserPresence: flags == 1))
  }

  @Test func `an item that no name can describe is not listed`() throws {
    let items: [[String: any Sendable]] = [
      ["svce": Data([0xff])], ["svce": "s", "acct": Data([0xff])], Self.stored,
    ]
    let passwords = StandInKeychain { _, _ in (errSecSuccess, items) }.passwords()
    #expect(try passwords.list(GenericPassword.self).map(\.password.account) == ["bot"])
  }

  @Test func `an item without content has no bytes`() throws {
    #expect(try StandInKeychain.holding(Self.stored).passwords().secret(for: Self.bot) == Data())
  }

  // MARK: Values

  private struct Token: Codable, Equatable {
    var user = "bot"
    var id = 7
    var expires: [Double] = [1.5]
  }

  @Test func `a value is JSON with sorted keys`() throws {
    let keychain = StandInKeychain.empty()
    try keychain.passwords().save(encoding: Token(), for: Self.bot)
    let data = try #require(keychain.calls.last?.query["v_Data"] as? Data)
    #expect(String(decoding: data, as: UTF8.self) == #"{"expires":[1.5],"id":7,"user":"bot"}"#)
    let reader = StandInKeychain.holding(Self.stored.merging(["v_Data": data]) { $1 })
    #expect(try reader.passwords().value(Token.self, for: Self.bot) == Token())
  }

  @Test(arguments: ["hunter2", #"{"user":"hunter2"}"#, #"{"user":"hunter2","id":"hunter2"}"#, ""])
  func `a decoding error contains nothing of the value`(_ secret: String) {
    let keychain = StandInKeychain.holding(Self.stored.merging(["v_Data": Data(secret.utf8)]) { $1 })
    do {
      _ = try keychain.passwords().value(Token.self, for: Self.bot)
      Issue.record("decoded")
    } catch {
      #expect(error == .valueNotDecodable)
      var text = ""
      dump(error, to: &text)
      #expect(!"\(text) \(error) \(error.localizedDescription)".contains("hunter2"))
    }
  }

  @Test func `a value without a JSON form is refused, and nothing is stored`() {
    let keychain = StandInKeychain.empty()
    #expect(throws: KeychainError.valueNotEncodable) {
      try keychain.passwords().save(encoding: [Double.nan], for: Self.bot)
    }
    #expect(keychain.calls.isEmpty)
  }

  // MARK: Equality

  @Test func `names are equal if their bytes are equal`() {
    let (one, other) = (
      GenericPassword(service: "e\u{301}"), GenericPassword(service: "\u{e9}")
    )
    #expect(one != other && Set([one, other, one]).count == 2)
    #expect(one.details == other.details)
    #expect(GenericPassword(service: "a", account: "b") != GenericPassword(service: "b", account: "a"))
    #expect(InternetPassword(server: "s") != InternetPassword(server: "s", protocol: .https))
    let described = GenericPassword(service: "a", details: PasswordDetails(requiresUserPresence: true))
    #expect(described != GenericPassword(service: "a"))
  }
}
