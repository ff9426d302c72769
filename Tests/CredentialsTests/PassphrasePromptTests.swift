import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

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
      ("Enter PIN for ECDSA-SK key /k: ", nil), ("(a@evil) Enter passphrase for key '/k': ", nil),
    ] as [(String, PassphrasePrompt?)])
  func prompts(words: String, prompt: PassphrasePrompt?) {
    #expect(PassphrasePrompt(Array(words.utf8)) == prompt)
  }

  @Test("are not answered where several groups have an item for it")
  func groups() throws {
    let world = StandInStore()
    try world.create()
    try world.changePolicy { $0.groups["ops"] = [world.owner] }
    let keyring = try world.open()
    for (account, group) in [("id", "ops"), ("/a/id", "default")] {
      let attributes: Attributes = [.service: "ssh", .account: .string(account)]
      let item = NewItem(itemClass: .genericPassword, attributes: attributes, group: group)
      try keyring.add(item, secret: SecretBytes(text: group))
    }
    for (server, group) in [("h.example", "default"), ("H.example", "ops")] {
      var item = NewItem.login(server, "alice", ["protocol": "ssh"])
      item.group = group
      try keyring.add(item, secret: SecretBytes(text: group))
    }
    let items = PassphraseItems(keyring)
    for words in ["Enter passphrase for /a/id: ", "alice@h.example's password: "] {
      let prompt = try #require(PassphrasePrompt(Array(words.utf8)))
      #expect {
        _ = try items.secret(for: prompt)
      } throws: { error in
        if case CredentialError.ambiguous(let items) = error { items.count == 2 } else { false }
      }
    }
    let other = try #require(PassphrasePrompt(Array("Enter passphrase for /b/id: ".utf8)))
    #expect(try items.secret(for: other) != nil)
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
    let other = SecretBytes(text: "other")
    try keyring.add(.login("h.example", "alice", ["protocol": "ssh", "path": "x"]), secret: other)
    #expect(throws: CredentialError.self) { try answer("alice@h.example's password: ") }
  }
}
