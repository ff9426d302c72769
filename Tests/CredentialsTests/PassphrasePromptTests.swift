import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Questions of ssh", .serialized)
struct PassphrasePromptTests {
  private static let path = Array("/home/a/.ssh/id".utf8)

  @Test(
    "prompts that ssh words itself are answered",
    arguments: [
      ("Enter passphrase for key '/home/a/.ssh/id': ", .key(path: path)),
      ("alice@h.example's password: ", .login(account: Array("alice".utf8), host: Array("h.example".utf8))),
      ("al@ice@h.example's password: ", .login(account: Array("al@ice".utf8), host: Array("h.example".utf8))),
      // Worded by a server; ssh has put a prefix in front.
      ("(alice@evil.example) alice@h.example's password: ", nil),
      ("(alice@evil.example)alice@h.example's password: ", nil),
      ("(alice@evil.example) Enter passphrase for key '/home/a/.ssh/id': ", nil),
      ("(alice@evil.example) \nalice@h.example's password: ", nil), ("(alice@evil.example) Password: ", nil),
      // Control characters and invisible characters.
      ("x\nalice@h.example's password: ", nil), ("alice@h.example\r's password: ", nil),
      ("\u{1B}[2Kalice@h.example's password: ", nil), ("\u{9B}2Kalice@h.example's password: ", nil),
      ("alice@h\u{202E}.example's password: ", nil), ("alice\u{200B}@h.example's password: ", nil),
      ("Enter passphrase for key '/home/a\n/.ssh/id': ", nil),
      // Prompts of other programs, and prompts without an answer.
      ("Enter passphrase for /home/a/.ssh/id: ", nil), ("your name alice@h.example's password: ", nil),
      ("alice@h.example's password:", nil), ("@h's password: ", nil), ("Password: ", nil), ("", nil),
      ("Enter alice@h.example's old password: ", nil), ("Enter PIN for ECDSA-SK key /k: ", nil),
      ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", nil),
      ("Password for 'https://alice@h.example': ", nil),
    ] as [(String, PassphrasePrompt?)])
  func ssh(words: String, prompt: PassphrasePrompt?) {
    #expect(PassphrasePrompt(Array(words.utf8), from: .ssh) == prompt)
  }

  @Test(
    "prompts of ssh-add and ssh-keygen are answered for keys only",
    arguments: [
      ("Enter passphrase for /home/a/.ssh/id: ", .key(path: path)),
      ("Enter passphrase for key '/home/a/.ssh/id': ", .key(path: path)),
      ("Enter passphrase for /k (will confirm each use): ", .key(path: Array("/k".utf8))),
      ("Enter passphrase for  (will confirm each use): ", nil),
      ("Enter passphrase for /a: b: ", .key(path: Array("/a: b".utf8))),
      ("Bad passphrase, try again for /k: ", nil), ("Enter passphrase for : ", nil), ("", nil),
      ("Enter passphrase for /a\u{1B}[2K: ", nil), ("alice@h.example's password: ", nil),
      ("Enter passphrase (empty for no passphrase): ", nil),
      ("Enter new passphrase for \"/home/a/.ssh/id\" (empty for no passphrase): ", nil),
      ("Enter passphrase: ", nil), ("Enter old passphrase: ", nil),
      // OpenSSH 9.5 and later.
      ("Enter passphrase for \"/home/a/.ssh/id\": ", .key(path: path)),
      ("Enter passphrase for key \"/home/a/.ssh/id\": ", .key(path: path)),
      ("Enter old passphrase for \"/home/a/.ssh/id\": ", .key(path: path)),
    ] as [(String, PassphrasePrompt?)])
  func keyProgram(words: String, prompt: PassphrasePrompt?) {
    #expect(PassphrasePrompt(Array(words.utf8), from: .keyProgram(key: nil)) == prompt)
  }

  @Test(
    arguments: [
      (["-y", "-f", "/home/a/.ssh/id"], path), (["-yf/home/a/.ssh/id"], path),
      (["-Y", "sign", "-n", "git", "-f", "/home/a/.ssh/id.pub", "file"], path),
      (["-p", "-m", "-f", "-f", "/home/a/.ssh/id"], path),
      (["-s", "/home/a/.ssh/id", "-I", "-f", "-f", "/x", "user.pub"], path),
      (["-y", "--", "-f", "/home/a/.ssh/id"], nil), (["-y", "other", "-f", "/home/a/.ssh/id"], nil),
      (["-y", "-f"], nil), (["-y", "-f", ""], nil), (["-y"], nil), ([], nil),
    ] as [([String], [UInt8]?)])
  func `the arguments of ssh-keygen name the key of a prompt that does not`(
    arguments: [String], path: [UInt8]?
  ) throws {
    let caller = try #require(
      PromptCaller(name: "ssh-keygen", arguments: { arguments.map { Array($0.utf8) } }, version: { nil }))
    for words in ["Enter passphrase: ", "Enter old passphrase: "] {
      #expect(PassphrasePrompt(Array(words.utf8), from: caller) == path.map { .key(path: $0) })
    }
    // The answer to this prompt would become the new passphrase.
    let words = "Enter new passphrase (empty for no passphrase): "
    #expect(PassphrasePrompt(Array(words.utf8), from: caller) == nil)
  }

  @Test(
    "prompts are accepted from ssh of OpenSSH 8.5 or later",
    arguments: [
      ("OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19\n", true), ("OpenSSH_8.5p1", true),
      ("OpenSSH_10.0p2", true), ("OpenSSH_8.4p1 Debian-5", false), ("OpenSSH_8.2p1 Ubuntu-4", false),
      ("OpenSSH_7.9", false), ("Dropbear v2022.83", false), ("x OpenSSH_9.2", false), ("OpenSSH_9", false),
      ("OpenSSH_for_Windows_8.6p1", false), ("", false), (nil, false),
    ] as [(String?, Bool)])
  func versions(version: String?, isKnown: Bool) {
    #expect(PromptCaller(name: "ssh", arguments: { [] }, version: { version }) == (isKnown ? .ssh : nil))
  }

  @Test("prompts of programs that may pass on text from a server are not answered")
  func callers() {
    for name in ["ssh-add", "ssh-keygen"] {
      #expect(PromptCaller(name: name, arguments: { [] }, version: { nil }) == .keyProgram(key: nil))
    }
    for name in ["dbclient", "sh", "git", "ssh2", "plink", "", "ssh (deleted)"] {
      #expect(PromptCaller(name: name, arguments: { [] }, version: { "OpenSSH_9.2p1" }) == nil)
    }
  }

  @Test("a prompt is not answered if several groups have an item for it")
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
      let prompt = try #require(
        PassphrasePrompt(Array(words.utf8), from: words.hasPrefix("Enter") ? .keyProgram(key: nil) : .ssh))
      #expect {
        _ = try items.secret(for: prompt)
      } throws: { error in
        if case CredentialError.ambiguous(let items) = error { items.count == 2 } else { false }
      }
    }
    let other = try #require(
      PassphrasePrompt(Array("Enter passphrase for /b/id: ".utf8), from: .keyProgram(key: nil)))
    #expect(try items.secret(for: other) != nil)
  }

  @Test("a key is found by its path, else by its name, and a login by its server")
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
      guard
        let prompt = PassphrasePrompt(
          Array(words.utf8), from: words.hasPrefix("Enter") ? .keyProgram(key: nil) : .ssh)
      else { return nil }
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
