import Arguments
import CommandSupport
import Foundation
import TestSupport
import Testing

/// The output of `keytree find`.
@Suite("The list of items", .serialized)
struct FindCommandTests {
  private let world: CommandFixture

  init() throws { world = try .withoutGnuPG() }

  private func add(_ words: Word...) {
    #expect(world.run(["add"] + words, input: Array("s".utf8)).code == .done)
  }

  @Test("an empty store is a sentence and no error, but a search without a result is an error")
  func empty() {
    let all = world.run("find")
    #expect(all.code == .done && all.text == "")
    #expect(all.diagnosticsText == "The store has no items; `keytree add ITEM` adds one.\n")
    for words in [["--store", world.store], ["--limit", "5"], ["--sort", "modified"], ["--tree"]] {
      #expect(world.run(["find"] + words.map { Word($0) }).code == .done, "\(words)")
    }
    #expect(world.run("find", "x").code == .notFound)
    #expect(world.run("find", "--server", "x").code == .notFound)
  }

  @Test("every word must occur in some attribute, in any order and in any case")
  func words() {
    add("github.com/alice", "-l", "Code Hosting")
    add("gitlab.com/bob", "-j", "Füße and Kelvin \u{212A}")
    for words in [
      ["ALICE", "github"], ["hosting", "GIT"], ["code hosting"], ["Code", "alice", "github.com"],
    ] {
      #expect(world.run(["find"] + words.map { Word($0) }).text.contains("alice"))
    }
    for words in [["füSSe"], ["alice", "bob"], ["hosting code"]] {
      #expect(world.run(["find"] + words.map { Word($0) }).code == .notFound)
    }
    for words in [["FÜßE"], ["kelvin k"], ["LAB", "ße"]] {
      #expect(world.run(["find"] + words.map { Word($0) }).text.contains("bob"), "\(words)")
    }
    #expect(world.run("find", "ALICE", "--case-sensitive").code == .notFound)
    #expect(world.run("find", "-i", "--case-sensitive", "x").code == .usage)
  }

  @Test("items are sorted by container and account in any case")
  func order() {
    for name in ["b.example/z", "a.example/B", "a.example/a", "b.example/A"] { add(Word(name)) }
    let lines = world.run("find").text.split(separator: "\n").map {
      $0.split(separator: "\t")[1...2].joined(separator: "/")
    }
    #expect(lines == ["a.example/a", "a.example/B", "b.example/A", "b.example/z"])
    let created = world.run("find", "--sort", "created").text.split(separator: "\n").first
    #expect(created?.contains("b.example\tz") == true)
  }

  @Test("a terminal gets dates, fields, and class and group only where they are not the usual ones")
  func terminal() {
    add("github.com/alice", "-l", "GitHub")
    add("github.com/alice", "--field", "note")
    let usual = world.run("find", isTerminal: true).text.split(separator: "\n")
    let header = usual[0].split(separator: " ").joined(separator: " ")
    #expect(header.contains("CONTAINER ACCOUNT LABEL FIELDS MODIFIED"))
    #expect(usual[0].hasPrefix("\u{1B}[1mCONTAINER"))
    #expect(!usual[0].contains("CLASS") && !usual[0].contains("GROUP"))
    add("generic:mailer/bot")
    let mixed = world.run("find", isTerminal: true).text
    #expect(
      mixed.contains("CLASS") && mixed.contains("generic-password") && !mixed.contains("internet-password"))
    #expect(!world.run(["find"], isTerminal: true, more: ["NO_COLOR": "1"]).text.contains("\u{1B}"))
    #expect(!world.run(["find"], isTerminal: true, more: ["TERM": "dumb"]).text.contains("\u{1B}"))
  }

  @Test("no line is wider than the terminal")
  func width() {
    let long = String(repeating: "long", count: 20)
    add(Word("\(long).example/\(long)"), "-l", Word("\(long) \(long)"))
    for line in world.run("find", isTerminal: true).text.split(separator: "\n") {
      let text = line.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "")
      #expect(text.count <= 80 && text.count > 70)
    }
  }

  @Test("a tree shows containers, accounts and fields")
  func tree() {
    add("github.com/alice", "-l", "GitHub")
    add("github.com/alice", "--field", "otp-seed")
    add("github.com/bob")
    add("mail.example")
    #expect(
      world.run("find", "--tree").text == """
        github.com
        ├── alice  GitHub
        │   └── otp-seed
        └── bob
        mail.example
        └── (no account)

        """)
    #expect(world.run("find", "--tree", "--json").code == .usage)
  }

  @Test("tags are compared as wholes")
  func tags() {
    add("a.example/x", "--tag", "Work", "--tag", "vpn", "--url", "https://a.example/login")
    add("b.example/x", "--tag", "homework")
    #expect(world.run("find", "--tag", "work").text.contains("a.example"))
    #expect(!world.run("find", "--tag", "work").text.contains("b.example"))
    #expect(world.run("find", "--tag", "work", "--tag", "vpn").text.contains("a.example"))
    #expect(world.run("find", "--tag", "work", "--tag", "x").code == .notFound)
    #expect(world.run("find", "--tag", "a,b").code == .usage)
    #expect(world.run("find", "--url", "https://a.example/login").text.contains("a.example"))
  }
}
