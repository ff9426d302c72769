import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Passwords by service and account")
struct ServiceLoginsTests {
  let world = StandInStore()
  let keyring: Keyring
  let logins: ServiceLogins

  init() throws {
    keyring = try world.create()
    logins = ServiceLogins(
      keyring, recent: RecentLogins(base: world.host.stateBase, keyring: keyring.policy.keyring))
    for (server, account, more) in [
      ("pypi.example", "bob", ["protocol": "https"]),
      ("pypi.example", "zoe", ["protocol": "https", "path": "/private"]),
      ("pypi.example", "port", ["protocol": "https", "port": 8080]),
    ] as [(String, String, KeyValuePairs<AttributeName, AttributeValue>)] {
      let secret = SecretBytes(text: "of \(account)")
      try keyring.add(.login(server, account, more), secret: secret)
    }
    let secret = SecretBytes(text: "of the service")
    let attributes: Attributes = [.service: "https://pypi.example/odd", .account: "bob"]
    try keyring.add(NewItem(itemClass: .genericPassword, attributes: attributes), secret: secret)
  }

  func find(_ service: String, _ account: String?) throws -> String? {
    try logins.find(service: Array(service.utf8), account: account.map { Array($0.utf8) })
      .map { String(decoding: $0.secret.publicBytes(), as: UTF8.self) }
  }

  @Test(
    "are those of the service, else of the server that a URL names",
    arguments: [
      ("pypi.example", "bob", "of bob"), ("https://pypi.example/simple/", "bob", "of bob"),
      ("https://pypi.example/odd", "bob", "of the service"), ("pypi.example:8080", "port", "of port"),
      ("https://bob@pypi.example/simple", "bob", "of bob"), ("https://pypi.example/private", "zoe", "of zoe"),
      ("https://pypi.example/other", "zoe", nil), ("pypi.example", "zoe", "of zoe"),
      ("pypi.example", "port", nil),
      ("http://pypi.example", "bob", nil), ("pypi.example", "alice", nil), ("", "", nil), ("a b", "c", nil),
    ])
  func services(service: String, account: String, secret: String?) throws {
    #expect(try find(service, account) == secret)
  }

  @Test("are stored once, replaced and removed")
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

@Suite("Questions of ssh")
struct PassphrasePromptTests {
  @Test(
    "are told by their words",
    arguments: [
      ("Enter passphrase for /home/a/.ssh/id: ", .key(path: Array("/home/a/.ssh/id".utf8))),
      ("Enter passphrase for key '/home/a/.ssh/id': ", .key(path: Array("/home/a/.ssh/id".utf8))),
      ("Enter passphrase for /k (will confirm each use): ", .key(path: Array("/k".utf8))),
      ("Enter passphrase for /a: b:", .key(path: Array("/a: b".utf8))),
      ("al@ice@h.example's password: ", .login(account: Array("al@ice".utf8), host: Array("h.example".utf8))),
      ("Bad passphrase, try again for /k: ", nil), ("Enter passphrase for : ", nil), ("", nil),
      ("Password: ", nil),
      ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", nil),
      ("@h's password: ", nil),
      ("Enter PIN for ECDSA-SK key /k: ", nil),
    ] as [(String, PassphrasePrompt?)])
  func prompts(words: String, prompt: PassphrasePrompt?) {
    #expect(PassphrasePrompt(Array(words.utf8)) == prompt)
  }

  @Test("are answered by the item of the key's path, else of its name, and of the server")
  func items() throws {
    let world = StandInStore()
    let keyring = try world.create()
    func add(_ account: String, _ text: String) throws {
      let secret = SecretBytes(text: text)
      let attributes: Attributes = [.service: "ssh", .account: .string(account)]
      try keyring.add(NewItem(itemClass: .genericPassword, attributes: attributes), secret: secret)
    }
    let login = SecretBytes(text: "login")
    try keyring.add(.login("h.example", "alice", ["protocol": "ssh"]), secret: login)
    try add("id", "by name")
    try add("/a/id", "by path")
    let items = PassphraseItems(keyring)
    func answer(_ words: String) throws -> String? {
      guard let prompt = PassphrasePrompt(Array(words.utf8)) else { return nil }
      return try items.secret(for: prompt).map { String(decoding: $0.0.publicBytes(), as: UTF8.self) }
    }
    #expect(try answer("Enter passphrase for /a/id: ") == "by path")
    #expect(try answer("Enter passphrase for /b/id: ") == "by name")
    #expect(try answer("Enter passphrase for /b/other: ") == nil)
    #expect(try answer("alice@h.example's password: ") == "login")
    #expect(try answer("bob@h.example's password: ") == nil)
  }
}

@Suite("Cargo's requests")
struct CargoRequestTests {
  @Test(
    "are refused when they are none",
    arguments: [
      "", "{}", "x", #"{"v":2,"kind":"get","registry":{"index-url":"u"}}"#,
      #"{"v":1,"registry":{"index-url":"u"}}"#,
      #"{"v":1,"kind":"get"}"#, #"{"v":1,"kind":"get","registry":{}}"#,
      #"{"v":1,"kind":"get","registry":{"index-url":""}}"#,
    ])
  func refused(line: String) {
    let bytes = SecretBytes(text: line)
    #expect(throws: CredentialError.self) { try CargoRequest(bytes) }
  }

  @Test("get the token of their registry alone")
  func tokens() throws {
    let world = StandInStore()
    let keyring = try world.create()
    let provider = CargoCredentialProvider(keyring)
    func request(_ url: String) throws -> CargoRequest {
      let line = SecretBytes(
        text: #"{"v":1,"kind":"login","token":"x","registry":{"index-url":"\#(url)","name":"n"}}"#)
      return try CargoRequest(line)
    }
    func token(_ url: String) throws -> String? {
      guard let line = try provider.token(of: url) else { return nil }
      return line.text()
    }
    func store(_ text: String, _ url: String) throws -> Bool {
      try provider.store(SecretSlice(SecretBytes(text: text)), for: try request(url))
    }
    #expect(try store("t\"1", "sparse+https://r/"))
    #expect(try !store("t\"1", "sparse+https://r/"))
    #expect(
      try token("sparse+https://r/")
        == #"{"Ok":{"kind":"get","token":"t\"1","cache":"session","operation_independent":true}}"#)
    #expect(try token("sparse+https://r") == nil)
    #expect(try store("t2", "sparse+https://r/"))
    #expect(try keyring.find(Query()).items.count == 1)
    #expect(try provider.erase("sparse+https://r/"))
    #expect(try !provider.erase("sparse+https://r/"))
  }
}
