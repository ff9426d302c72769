import Foundation
import KeychainServices
import Testing

@testable import KeychainPasswords

/// Tests the dictionaries that are passed to Apple's functions.
@Suite(.serialized)
struct DictionaryTests {
  typealias Call = StandInKeychain.Call

  /// An item as the keychain returns it.
  private static let stored: [String: any Sendable] = ["svce": "mailer", "acct": "bot", "agrp": "default"]
  private static var named: [String: Any] {
    ["class": "genp", "nleg": true, "sync": false, "svce": "mailer", "acct": "bot"]
  }
  private static let bot = GenericPassword(service: "mailer", account: "bot")

  private static func plus(_ base: [String: Any], _ more: [String: Any]) -> NSDictionary {
    base.merging(more) { $1 } as NSDictionary
  }

  // MARK: New items

  private static func presence(_ protection: CFString) -> AnyObject { control(protection, .userPresence) }

  private static func control(_ protection: CFString, _ flags: SecAccessControlCreateFlags) -> AnyObject {
    SecAccessControlCreateWithFlags(nil, protection, flags, nil) ?? NSNull()
  }

  private static var newGeneric: [(String, GenericPassword, [String: Any])] {
    [
      ("a name", bot, ["svce": "mailer", "acct": "bot"]),
      ("a service only", GenericPassword(service: "mailer"), ["svce": "mailer"]),
      (
        "every detail",
        GenericPassword(
          service: "mailer", account: "bot", accessGroup: "ops", isSynchronizable: true,
          details: PasswordDetails(label: "L", kind: "K", comment: "", accessibility: .afterFirstUnlock)),
        [
          "svce": "mailer", "acct": "bot", "agrp": "ops", "sync": true, "labl": "L", "desc": "K", "icmt": "",
          "pdmn": "ck",
        ]
      ),
      (
        "user presence", GenericPassword(service: "s", details: PasswordDetails(requiresUserPresence: true)),
        ["svce": "s", "accc": presence("ak")]
      ),
      (
        "user presence and accessibility",
        GenericPassword(
          service: "s", details: PasswordDetails(accessibility: .afterFirstUnlock, requiresUserPresence: true)
        ),
        ["svce": "s", "accc": presence("ck")]
      ),
    ]
  }

  @Test(arguments: newGeneric.indices)
  func `a new generic password has the given attributes`(_ row: Int) throws {
    let (name, item, expected) = Self.newGeneric[row]
    let keychain = StandInKeychain.empty()
    try keychain.passwords().add([1, 2], for: item)
    let base: [String: Any] = ["class": "genp", "nleg": true, "v_Data": Data([1, 2])]
    #expect(keychain.calls.map(\.query) == [Self.plus(base, expected)], "\(name)")
  }

  private static let site = InternetPassword(
    server: "a.example", account: "me", protocol: .https, port: 8443, path: "/x",
    authenticationType: .init(rawValue: "totp"), securityDomain: "realm")

  @Test func `a new internet password has the given attributes and no others`() throws {
    let keychain = StandInKeychain.empty()
    try keychain.passwords().add([], for: Self.site)
    try keychain.passwords().add([], for: InternetPassword(server: "b.example"))
    let base: [String: Any] = ["class": "inet", "nleg": true, "v_Data": Data()]
    let full: [String: Any] = [
      "srvr": "a.example", "acct": "me", "ptcl": "htps", "port": 8443, "path": "/x", "atyp": "totp",
      "sdmn": "realm",
    ]
    #expect(
      keychain.calls.map(\.query) == [Self.plus(base, full), Self.plus(base, ["srvr": "b.example"])])
  }

  // MARK: Queries

  @Test func `a query for a name has the whole primary key, including missing attributes`() throws {
    let keychain = StandInKeychain.empty()
    _ = try keychain.passwords().attributes(of: InternetPassword(server: "b.example"))
    let expected: NSDictionary = [
      "class": "inet", "nleg": true, "srvr": "b.example", "acct": "", "ptcl": "", "port": 0, "path": "",
      "atyp": "", "sdmn": "", "sync": false, "r_Attributes": true, "m_Limit": "m_LimitAll",
    ]
    #expect(keychain.calls.map(\.query) == [expected])
  }

  @Test func `details do not affect which item is found`() throws {
    let (plain, detailed) = (StandInKeychain.empty(), StandInKeychain.empty())
    var item = Self.bot
    _ = try plain.passwords().secret(for: item)
    item.details = PasswordDetails(label: "L", accessibility: .afterFirstUnlock, requiresUserPresence: true)
    _ = try detailed.passwords().secret(for: item)
    #expect(plain.calls.map(\.query) == detailed.calls.map(\.query))
  }

  @Test func `a secret is read from one item in one group, after a query for attributes only`() throws {
    let keychain = StandInKeychain.holding(Self.stored.merging(["v_Data": Data([7])]) { $1 })
    #expect(try keychain.passwords().secret(for: Self.bot) == Data([7]))
    #expect(
      keychain.calls.map(\.query) == [
        Self.plus(Self.named, ["r_Attributes": true, "m_Limit": "m_LimitAll"]),
        Self.plus(
          Self.named,
          ["agrp": "default", "r_Attributes": true, "r_Data": true, "m_Limit": "m_LimitOne"]),
      ])
  }

  private static let groups: [(AccessGroup?, AccessGroup?, String?)] = [
    (nil, nil, nil), ("team", nil, "team"), (nil, "ops", "ops"), ("team", "ops", "ops"),
  ]

  @Test("the group of a name takes precedence over that of the passwords", arguments: groups)
  func group(_ ofAll: AccessGroup?, _ ofOne: AccessGroup?, _ expected: String?) throws {
    let keychain = StandInKeychain.empty()
    let passwords = keychain.passwords(accessGroup: ofAll)
    var item = Self.bot
    item.accessGroup = ofOne
    try passwords.save([], for: item)
    let conditions: [PasswordAttribute<GenericPassword>] = ofOne.map { [.accessGroup($0)] } ?? []
    _ = try passwords.list(matching: conditions)
    #expect(keychain.calls.map(\.function) == [.find, .add, .find])
    #expect(keychain.calls.map { $0.query["agrp"] as? String } == [expected, expected, expected])
  }

  @Test func `a list asks for the attributes of all matches and never for a secret`() throws {
    let keychain = StandInKeychain.empty()
    let passwords = keychain.passwords()
    #expect(try passwords.list(GenericPassword.self).isEmpty)
    #expect(try passwords.list(GenericPassword.self, .service("mailer"), .label("L"), .kind("K")).isEmpty)
    #expect(
      try passwords.list(
        InternetPassword.self, .server("a.example"), .protocol(.ssh), .port(22), .synchronizable(true)
      ).isEmpty)
    let base: [String: Any] = ["nleg": true, "r_Attributes": true, "m_Limit": "m_LimitAll", "sync": "syna"]
    #expect(
      keychain.calls.map(\.query) == [
        Self.plus(base, ["class": "genp"]),
        Self.plus(base, ["class": "genp", "svce": "mailer", "labl": "L", "desc": "K"]),
        Self.plus(
          base, ["class": "inet", "srvr": "a.example", "ptcl": "ssh ", "port": 22, "sync": true]),
      ])
  }

  @Test func `conditions that contradict each other are refused without a call`() throws {
    let keychain = StandInKeychain.empty()
    let passwords = keychain.passwords()
    #expect(throws: KeychainError.invalidParameter) {
      try passwords.deleteAll(GenericPassword.self, .service("a"), .service("b"))
    }
    #expect(throws: KeychainError.invalidParameter) {
      try passwords.list(GenericPassword.self, .label("e\u{301}"), .label("\u{e9}"))
    }
    #expect(keychain.calls.isEmpty)
    #expect(try !passwords.deleteAll(GenericPassword.self, .service("a"), .service("a")))
  }

  @Test func `every call forbids interaction if it is not allowed`() throws {
    let keychain = StandInKeychain.holding(Self.stored)
    let passwords = keychain.passwords(interaction: .notAllowed)
    _ = try passwords.secret(for: Self.bot)
    try passwords.add([], for: Self.bot)
    #expect(keychain.calls.map(\.function) == [.find, .find, .add])
    #expect(keychain.calls.allSatisfy { $0.query["u_AuthUI"] as? String == "u_AuthUIF" })
    let other = StandInKeychain.holding(Self.stored)
    _ = try other.passwords().secret(for: Self.bot)
    #expect(other.calls.allSatisfy { $0.query["u_AuthUI"] == nil })
  }

  // MARK: Changes

  private static func bot(_ details: PasswordDetails) -> GenericPassword {
    GenericPassword(service: "mailer", account: "bot", details: details)
  }

  private static var changes: [(String, GenericPassword, GenericPassword, [String: Any])] {
    [
      ("nothing", bot, bot, [:]),
      ("a label", bot, bot(PasswordDetails(label: "L")), ["labl": "L"]),
      ("an emptied label", bot(PasswordDetails(label: "L")), bot(PasswordDetails(label: "")), ["labl": ""]),
      ("a label left unspecified", bot(PasswordDetails(label: "L")), bot, [:]),
      (
        "kind and comment", bot(PasswordDetails(kind: "K")), bot(PasswordDetails(kind: "k", comment: "C")),
        ["desc": "k", "icmt": "C"]
      ),
      ("an account", bot, GenericPassword(service: "mailer", account: "robot"), ["acct": "robot"]),
      ("a removed account", bot, GenericPassword(service: "mailer"), ["acct": ""]),
      (
        "the spelling of an account", GenericPassword(service: "s", account: "e\u{301}"),
        GenericPassword(service: "s", account: "\u{e9}"), ["acct": "\u{e9}"]
      ),
      (
        "group and synchronization", bot,
        GenericPassword(service: "mailer", account: "bot", accessGroup: "ops", isSynchronizable: true),
        ["agrp": "ops", "sync": true]
      ),
      (
        "a group left unspecified", GenericPassword(service: "s", accessGroup: "ops"),
        GenericPassword(service: "s"),
        [:]
      ),
      ("accessibility", bot, bot(PasswordDetails(accessibility: .afterFirstUnlock)), ["pdmn": "ck"]),
      ("accessibility left unspecified", bot(PasswordDetails(accessibility: .afterFirstUnlock)), bot, [:]),
      (
        "accessibility of an item with user presence", bot(PasswordDetails(requiresUserPresence: true)),
        bot(PasswordDetails(accessibility: .afterFirstUnlock, requiresUserPresence: true)), ["pdmn": "ck"]
      ),
      ("user presence", bot, bot(PasswordDetails(requiresUserPresence: true)), ["accc": presence("cku")]),
      (
        "user presence, with an accessibility that was assumed for the item",
        bot(PasswordDetails(accessibility: .afterFirstUnlock)),
        bot(PasswordDetails(accessibility: .afterFirstUnlock, requiresUserPresence: true)),
        ["accc": presence("cku")]
      ),
      (
        "user presence and accessibility", bot,
        bot(PasswordDetails(accessibility: .afterFirstUnlock, requiresUserPresence: true)),
        ["accc": presence("ck")]
      ),
      (
        "user presence removed", bot(PasswordDetails(requiresUserPresence: true)), bot,
        ["accc": control("cku", [])]
      ),
      (
        "user presence replaced by accessibility", bot(PasswordDetails(requiresUserPresence: true)),
        bot(PasswordDetails(accessibility: .afterFirstUnlock)), ["accc": control("ck", [])]
      ),
    ]
  }

  /// An item that stays on this machine.
  private static let local = stored.merging(["pdmn": "cku"]) { $1 }

  @Test(arguments: changes.indices)
  func `an update sends the differences and no secret`(_ row: Int) throws {
    let (name, old, new, expected) = Self.changes[row]
    let keychain = StandInKeychain.holding(Self.local)
    try keychain.passwords().update(old, to: new)
    let call = try #require(keychain.calls.last)
    #expect(call.function == .update)
    #expect(call.changes == expected as NSDictionary, "\(name)")
    #expect(call.query["acct"] as? String == old.account && call.query["svce"] as? String == old.service)
    #expect(call.query["agrp"] as? String == "default", "the group of the item that was found")
  }

  private static var descriptions: [(PasswordDetails, [String: Any])] {
    [
      (PasswordDetails(), [:]),
      (PasswordDetails(label: "", comment: "C"), ["labl": "", "icmt": "C"]),
      (PasswordDetails(accessibility: .afterFirstUnlock), ["pdmn": "ck"]),
      (PasswordDetails(requiresUserPresence: true), ["accc": presence("cku")]),
      (
        PasswordDetails(comment: "C", accessibility: .afterFirstUnlock, requiresUserPresence: true),
        ["icmt": "C", "accc": presence("ck")]
      ),
    ]
  }

  @Test(arguments: descriptions.indices)
  func `saving an existing item sends the secret and the given details`(_ row: Int) throws {
    let (details, expected) = Self.descriptions[row]
    let keychain = StandInKeychain.holding(Self.local)
    #expect(try keychain.passwords().save([1], for: Self.bot(details)) == .updated)
    #expect(keychain.calls.last?.changes == Self.plus(expected, ["v_Data": Data([1])]))
  }

  @Test func `an item without an accessibility has the default one`() throws {
    let keychain = StandInKeychain.holding(Self.stored)
    try keychain.passwords().save([], for: Self.bot(PasswordDetails(requiresUserPresence: true)))
    #expect(keychain.calls.last?.changes == ["v_Data": Data(), "accc": Self.presence("ak")])
  }

  @Test func `an unknown accessibility cannot be part of an access control`() {
    let keychain = StandInKeychain.empty()
    let item = GenericPassword(
      service: "s",
      details: PasswordDetails(accessibility: Accessibility(rawValue: "zz"), requiresUserPresence: true))
    #expect(throws: KeychainError.invalidParameter) { try keychain.passwords().add([], for: item) }
    #expect(keychain.calls.isEmpty)
  }
}
