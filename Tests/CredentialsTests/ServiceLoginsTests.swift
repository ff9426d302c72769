import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Passwords by service and account", .serialized)
struct ServiceLoginsTests {
  let world = StandInStore()
  let keyring: Keyring
  let logins: ServiceLogins

  init() throws {
    keyring = try world.create()
    logins = ServiceLogins(
      keyring, recent: RecentLogins(base: world.host.stateBase, keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    for (server, account, more) in [
      ("pypi.example", "bob", ["protocol": "https"]),
      ("pypi.example", "zoe", ["protocol": "https", "path": "/private"]),
      ("pypi.example", "port", ["protocol": "https", "port": 8080]),
      ("pypi.example", "late", ["protocol": "https", "passwordExpiry": "1700000000"]),
    ] as [(String, String, KeyValuePairs<AttributeName, AttributeValue>)] {
      let secret = SecretBytes(text: "of \(account)")
      try keyring.add(.login(server, account, more), secret: secret)
    }
    let secret = SecretBytes(text: "of the service")
    let attributes: Attributes = [.service: "https://pypi.example/odd", .account: "bob"]
    try keyring.add(NewItem(itemClass: .genericPassword, attributes: attributes), secret: secret)
  }

  @Test("passwords in several groups are ambiguous")
  func groups() throws {
    try world.changePolicy { $0.groups["ops"] = [world.owner] }
    let keyring = try world.open()
    let logins = ServiceLogins(
      keyring, recent: RecentLogins(base: world.host.stateBase, keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    for (itemClass, attributes) in [
      (.internetPassword, [.server: "pypi.example", .account: "bob", .protocol: "https"]),
      (.genericPassword, [.service: "https://pypi.example/odd", .account: "bob"]),
    ] as [(ItemClass, Attributes)] {
      let item = NewItem(itemClass: itemClass, attributes: attributes, group: "ops")
      try keyring.add(item, secret: SecretBytes(text: "of ops"))
    }
    let before = try keyring.find(Query()).items
    let bob = Array("bob".utf8)
    for service in ["https://pypi.example/", "https://pypi.example/odd"] {
      for account in [bob, nil] {
        #expect {
          try logins.find(service: Array(service.utf8), account: account)
        } throws: { error in
          if case CredentialError.ambiguous(let items) = error { items.count == 2 } else { false }
        }
      }
    }
    let odd = Array("https://pypi.example/odd".utf8)
    let rivals = before.filter { $0.itemClass == .genericPassword }
    #expect(throws: CredentialError.ambiguous(rivals)) {
      try logins.store(SecretSlice(SecretBytes(text: "new")), service: odd, account: bob)
    }
    #expect(throws: CredentialError.ambiguous(rivals)) { try logins.remove(service: odd, account: bob) }
    #expect(try keyring.find(Query()).items == before)
  }

  @Test("a field is never a password, even if its item is gone")
  func fields() throws {
    let places: [(ItemClass, Attributes)] = [
      (.genericPassword, [.service: "field.example", .account: "eve"]),
      (.internetPassword, [.server: "field.example", .account: "eve", .protocol: "https"]),
    ]
    for (itemClass, place) in places {
      var attributes = place
      attributes[.field] = "otp"
      try keyring.add(
        NewItem(itemClass: itemClass, attributes: attributes), secret: SecretBytes(text: "seed"))
    }
    for service in ["field.example", "https://field.example"] {
      #expect(try find(service, "eve") == nil)
      #expect(try find(service, nil) == nil)
    }
  }

  func find(_ service: String, _ account: String?) throws -> String? {
    try logins.find(service: Array(service.utf8), account: account.map { Array($0.utf8) })
      .map { String(decoding: $0.secret.publicBytes(), as: UTF8.self) }
  }

  @Test(
    "a password is found by its service, else by the server in the URL",
    arguments: [
      ("https://pypi.example/simple/", "bob", "of bob"), ("https://pypi.example", "bob", "of bob"),
      ("https://pypi.example/odd", "bob", "of the service"), ("https://pypi.example:8080", "port", "of port"),
      ("https://bob:x@pypi.example/simple?y#z", "bob", "of bob"), ("https://PyPI.example/", "bob", "of bob"),
      ("https://pypi.example/private", "zoe", "of zoe"),
      ("https://pypi.example/private/simple/", "zoe", "of zoe"),
      ("https://pypi.example/private2", "zoe", nil), ("https://pypi.example/other", "zoe", nil),
      ("https://pypi.example", "zoe", nil), ("https://pypi.example", "port", nil),
      // A host without a scheme could be meant for any protocol.
      ("pypi.example", "bob", nil), ("pypi.example:8080", "port", nil), ("http://pypi.example", "bob", nil),
      ("https://pypi.example", "late", nil), ("https://pypi.example", "alice", nil), ("", "", nil),
      ("a b", "c", nil),
    ])
  func services(service: String, account: String, secret: String?) throws {
    #expect(try find(service, account) == secret)
  }

  @Test("a URL is stored without its confidential parts")
  func publicService() throws {
    let service = Array("https://u:hunter2@h.example/simple?token=hunter3#hunter4".utf8)
    let secret = SecretSlice(SecretBytes(text: "s"))
    #expect(try logins.store(secret, service: service, account: [0x75]))
    let item = try #require(keyring.find(Query()).items.first { $0.attributes[.account] == "u" })
    #expect(item.attributes[.service] == "https://h.example/simple")
    #expect(try find("https://u:hunter2@h.example/simple?token=hunter3#hunter4", "u") == "s")
  }

  @Test("concurrent stores of a password make one item")
  func atOnce() throws {
    try ThreadGroup.run(8) { number in
      _ = try logins.store(
        SecretSlice(SecretBytes(text: "p\(number)")), service: Array("s".utf8), account: Array("a".utf8))
    }
    #expect(try keyring.find(Query(predicates: [.equal(.service, "s")])).items.count == 1)
  }

  @Test("a password is stored once, replaced and removed")
  func changes() throws {
    func store(_ text: String) throws -> Bool {
      try logins.store(
        SecretSlice(SecretBytes(text: text)), service: Array("s".utf8), account: Array("-a".utf8))
    }
    #expect(try store("1"))
    #expect(try !store("1"))
    #expect(try store("2"))
    #expect(try find("s", "-a") == "2")
    #expect(try find("s", nil) == "2")
    #expect(try logins.remove(service: Array("s".utf8), account: Array("-a".utf8)))
    #expect(try !logins.remove(service: Array("s".utf8), account: Array("-a".utf8)))
  }
}
