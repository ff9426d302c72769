import Arguments
import CommandSupport
import Foundation
import TestSupport
import Testing

/// The names that users type, and the choice among several items.
@Suite("Names as users type them", .serialized)
struct NamingTests {
  private let world: CommandFixture

  init() throws {
    world = try .withoutGnuPG()
    try add("github.com/alice", "one", "-l", "GitHub")
    try add("github.com/bob", "two")
    try add("gitlab.example/alice", "three")
    try add("--server", "four", "bank/My Bank", "-a", "main account")
  }

  private func add(_ name: Word, _ secret: String, _ more: Word...) throws {
    let result = world.run(["add", name] + more, input: Array(secret.utf8))
    guard result.code == .done else { throw CommandFixture.NoStore(reason: result.diagnosticsText) }
  }

  @Test(
    "every name that find prints and the completion offers is accepted",
    arguments: ["", "git", "bank/My", "github.com/"])
  func offered(prefix: String) throws {
    let offered = world.run("complete-items", Word(prefix))
    #expect(offered.code == .done)
    let names = offered.text.split(separator: "\n").map(String.init)
    #expect(names.count == ["": 4, "git": 3, "bank/My": 1, "github.com/": 2][prefix])
    for name in names {
      #expect(name.hasPrefix(prefix))
      #expect(world.run("get", Word(name)).code == .done)
    }
  }

  @Test(
    "an item whose name looks like a class, a URL or an id is found by its name, and no such item is added by mistake",
    arguments: [
      ("urn:foo", "bar"), ("generic:x", "bar"), ("https://api.example", "bar"), ("#deadbeef99", "bar"),
      ("#1", "-x"), ("UPPER:case", "Bar"), ("host:99999", "bar"), ("//x", "y"),
    ])
  func strangeNames(service: String, account: String) throws {
    try add(Word("--service=\(service)"), "strange", Word("-a\(account)"))
    let name = "\(service)/\(account)"
    #expect(world.run("complete-items", "").text.contains(name + "\n"))
    for words in [["get"], ["read"], ["show", "--reveal"]] {
      #expect(world.run(words.map { Word($0) } + [Word(name)]).text.contains("strange"), "\(words)")
    }
    let new = world.run("add", Word(name + "/new"), input: [0x78])
    let isName = ["generic:x", "https://api.example"].contains(service)
    #expect(new.code == (isName ? .done : .usage), "\(new.diagnosticsText)")
  }

  @Test("the completion keeps a class in front of the name")
  func completionOfClass() throws {
    try add("generic:mailer/bot", "x")
    #expect(world.run("complete-items", "generic:m").text == "generic:mailer/bot\n")
    #expect(world.run("complete-items", "internet:mailer").text == "")
  }

  @Test("a script gets the candidates and nothing else")
  func candidates() {
    let result = world.run("get", "hub/ALICE")
    #expect(result.code == .notFound && result.text == "")
    #expect(result.diagnosticsText.contains("  github.com/alice  GitHub\n"))
    #expect(result.diagnosticsText.contains("hint: these match"))
    // Without an account of this name, those of the container are listed.
    let accounts = world.run("get", "github.com/carol").diagnosticsText
    #expect(accounts.contains("  github.com/alice") && accounts.contains("  github.com/bob"))
    #expect(!accounts.contains("gitlab"))
    #expect(world.run("get", "nowhere").diagnosticsText.contains("`keytree find WORD...`"))
  }

  @Test("at most ten candidates are listed")
  func manyCandidates() throws {
    for number in 0..<12 { try add(Word("many\(number).example/x"), "x") }
    let lines = world.run("get", "many").diagnosticsText.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("  many") } == 10)
  }

  @Test("on a terminal an item with another account is not taken without asking")
  func longerAccount() throws {
    try add("near.example/alice-work", "of work")
    for words in [["get", "near.example/alice"], ["show", "near.example/alice", "--reveal"]] as [[Word]] {
      let result = world.run(words, isTerminal: true)
      #expect(result.code != .done && !result.text.contains("of work"), "\(result.diagnosticsText)")
      #expect(result.diagnosticsText.contains("These match:"), "\(result.diagnosticsText)")
      #expect(result.diagnosticsText.contains("near.example/alice-work"), "\(result.diagnosticsText)")
    }
    #expect(world.run("get", "near", isTerminal: true).text == "of work\n")
  }

  @Test("on a terminal one candidate is taken, and of several the user chooses")
  func choice() {
    for more in [[], ["--quiet"]] as [[Word]] {
      let one = world.run(["get", "hub/alice"] + more, isTerminal: true)
      #expect(one.code == .done && one.text == "one\n")
      #expect(one.diagnosticsText.contains("using github.com/alice."))
    }
    // An item that lacks a word of the name is not taken without asking.
    let other = world.run("get", "gitlab.example/carol", input: Array("\n".utf8), isTerminal: true)
    #expect(other.code == .cancelled && other.text == "")
    #expect(other.diagnosticsText.contains("  1  gitlab.example/alice\n"))
    let number = world.run("get", "hub", input: Array("2\n".utf8), isTerminal: true)
    #expect(number.code == .done && number.text == "two\n")
    #expect(number.diagnosticsText.contains("  1  github.com/alice  GitHub\n"))
    let words = world.run("get", "git", input: Array("99\nnothing\nlab\n".utf8), isTerminal: true)
    #expect(words.code == .done && words.text == "three\n")
    let several = world.run("get", "github.com", input: Array("1\n".utf8), isTerminal: true)
    #expect(several.text == "one\n", "several items have the exact name")
    for answer in ["\n", ""] {
      let none = world.run("get", "git", input: Array(answer.utf8), isTerminal: true)
      #expect(none.code == .cancelled && none.text == "")
    }
  }

  @Test("an item that lacks a word of the name is not taken without asking")
  func otherAccount() throws {
    try add("single.example/alice", "only")
    let none = world.run("get", "single.example/bob", input: Array("\n".utf8), isTerminal: true)
    #expect(none.code == .cancelled && none.text == "")
    #expect(none.diagnosticsText.contains("No item is named single.example/bob."))
    #expect(none.diagnosticsText.contains("  1  single.example/alice\n"))
    let chosen = world.run("get", "single.example/bob", input: Array("1\n".utf8), isTerminal: true)
    #expect(chosen.code == .done && chosen.text == "only\n")
    #expect(world.run("get", "single.example/", isTerminal: true).text == "only\n", "no word is missing")
  }

  @Test(
    "an account in front of a host finds the candidates", arguments: ["alice@github.com", "ALICE@GitHub.com"]
  )
  func accountInFront(name: String) {
    let result = world.run("get", Word(name))
    #expect(result.code == .notFound && result.diagnosticsText.contains("  github.com/alice  GitHub\n"))
    #expect(!result.diagnosticsText.contains("bob") && !result.diagnosticsText.contains("gitlab"))
    #expect(world.run("get", Word(name), isTerminal: true).text == "one\n")
  }

  @Test("the name that an item had in a store of pass leads to it")
  func nameInPass() throws {
    try add("sync.example/carol", "five", "--attribute", "pass=Work/sync")
    #expect(world.run("get", "work/sync").diagnosticsText.contains("  sync.example/carol\n"))
    #expect(world.run("get", "work/sync", isTerminal: true).text == "five\n")
  }

  @Test("a name that ends with a field of the item gets the option for it, and never the secret")
  func fieldInName() throws {
    try add("github.com/alice", "codes", "--field", "note")
    for isTerminal in [false, true] {
      let result = world.run("get", "github.com/alice/note", isTerminal: isTerminal)
      #expect(result.code == .notFound && result.text == "")
      #expect(result.diagnosticsText.contains("hint: `github.com/alice --field note` names the field"))
    }
    #expect(world.run("get", "github.com/alice/otp").diagnosticsText.contains("these match"))
    try add("github.com/alice/note", "slash")
    #expect(world.run("get", "github.com/alice/note").text == "slash")
  }

  @Test(
    "on a terminal, a secret for a pipe is never that of a similar item",
    arguments: [["get"], ["otp"], ["otp", "--attributes"], ["get", "--attributes"], ["show", "--reveal"]])
  func pipes(command: [String]) throws {
    let seed = Array("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ".utf8)
    #expect(world.run("otp", "add", "github.com/alice", input: seed).code == .done)
    let words = command.map { Word($0) } + ["hub/alice"]
    #expect(world.run(words, isTerminal: true).code == .done)
    let piped = world.run(words, isTerminal: true, isPiped: true)
    #expect(piped.code == .notFound && piped.text == "")
  }

  @Test(
    "a command that changes something, or whose output is for a program, never chooses",
    arguments: [
      ["rm", "hub/alice"], ["set", "hub/alice", "-l", "x"], ["mv", "hub/alice", "x"],
      ["cp", "hub/alice", "x"],
      ["generate", "hub", "--update"], ["get", "hub/alice", "--json"], ["get", "hub/alice", "--out", "file"],
      ["get", "hub/alice", "--no-input"], ["read", "hub/alice"], ["run", "-e", "X=hub/alice", "--", "true"],
      ["rm", "github.com"],
    ])
  func unasked(words: [String]) {
    let before = world.run("find", "--json").text
    let result = world.run(words.map { Word($0) }, isTerminal: true)
    #expect(result.text == "" && result.code != .done || words[0] == "generate")
    #expect(!result.diagnosticsText.contains("; using "))
    if words[0] != "generate" { #expect(world.run("find", "--json").text == before) }
  }

  @Test("a URL gives protocol, account, host, port and path of a new item, and finds it with fewer parts")
  func urls() throws {
    try add("HTTPS://me%40work@Git.Example:8443/team?x=1", "url")
    let line = world.run("get", "git.example:8443/me@work", "--attributes").text
    for text in ["protocol\thttps", "port\t8443", "path\t/team", "account\tme@work", "server\tgit.example"] {
      #expect(line.contains(text + "\n"))
    }
    for name in [
      "https://git.example:8443/team", "https://Git.Example:8443", "https://git.example:8443/login",
      "git.example",
      "Git.Example/me@work",
    ] {
      #expect(world.run("get", Word(name)).text == "url")
    }
    try add("plain.example/me", "plain")
    for name in ["https://plain.example", "https://plain.example:443/x", "ssh://me@plain.example:2222"] {
      #expect(
        world.run("get", Word(name)).text == "plain", "an item without protocol and port is for all of them")
    }
  }

  @Test(
    "a URL with another protocol or port than the item's finds and changes nothing",
    arguments: [
      "https://git.example", "https://git.example:9999", "http://me@git.example:8443", "http://git.example",
      "https://git.example:443/team",
    ])
  func otherURLs(name: String) throws {
    try add("https://me@git.example:8443/team", "url")
    let before = world.run("find", "--json").text
    for words in [
      ["get", name], ["read", name], ["run", "-e", "X=\(name)", "--", "true"], ["rm", name],
      ["set", name, "-l", "x"],
      ["cp", name, "x.example"],
    ] {
      let result = world.run(words.map { Word($0) })
      #expect(result.code == .notFound && result.text == "", "\(words)")
      if words[0] == "get" { #expect(result.diagnosticsText.contains("  git.example/me  (port 8443)")) }
    }
    #expect(world.run("find", "--json").text == before)
    // A new field is not that of the item with the other port.
    #expect(world.run("add", Word(name), "--field", "note", input: [0x78]).code == .done)
    #expect(!world.run("show", "https://git.example:8443").text.contains("note"))
  }

  @Test("a URL with a password is refused, and the password is not repeated")
  func passwords() {
    let secret = world.run("get", "https://me:hunter2@git.example/")
    #expect(secret.code == .usage && !secret.diagnosticsText.contains("hunter2"))
  }

  @Test("host names are stored in lower case, other names of servers as typed")
  func hosts() throws {
    try add("Example.ORG/Alice", "x")
    #expect(world.run("find", "example.org").text.contains("\texample.org\tAlice\t"))
    #expect(world.run("get", "EXAMPLE.org/Alice").text == "x")
    #expect(world.run("get", "example.org/alice").code == .notFound, "accounts are compared exactly")
    #expect(world.run("find", "my bank").text.contains("\tbank/My Bank\t"))
  }

  @Test("the verbs of other programs work")
  func verbs() {
    #expect(world.run("insert", "verb/x", input: [0x78]).code == .done)
    for words in [["list"], ["search", "verb"], ["ls"]] {
      #expect(world.run(words.map { Word($0) }).text.contains("verb"))
    }
    #expect(world.run("copy", "verb/x", "verb/y").code == .done)
    #expect(world.run("rename", "verb/y", "verb/z").code == .done)
    #expect(world.run("move", "verb/z", "verb/w").code == .done)
    #expect(world.run("delete", "verb/w").code == .done)
    #expect(world.run("remove", "verb/x").code == .done)
    #expect(world.run("find", "verb").code == .notFound)
  }
}
