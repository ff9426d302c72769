import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import Testing

@Suite("Fields of a login", .serialized)
struct FieldTests {
  private func world() throws -> CommandFixture {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("add", "github.com/alice", input: Array("password".utf8)).code == .done)
    #expect(world.run("add", "github.com/alice", "--field", "note", input: Array("note".utf8)).code == .done)
    let seed = Array("otpauth://totp/x?secret=GEZDGNBV".utf8)
    #expect(world.run("otp", "add", "github.com/alice", input: seed).code == .done)
    return world
  }

  private func references(_ world: CommandFixture) -> Set<String> {
    let lines = world.run("find", "--json").text.split(separator: "\n")
    return Set(lines.compactMap { $0.firstMatch(of: #/"reference":"([^"]+)"/#).map { String($0.1) } })
  }

  @Test(
    "a name never means a field, even if the login does not exist",
    arguments: [
      ["get", "NAME"], ["get", "NAME", "--attributes"], ["edit", "NAME"], ["rm", "NAME"],
      ["set", "NAME", "-l", "x"],
      ["mv", "NAME", "other.example/x"], ["cp", "NAME", "other.example/x"], ["who", "NAME"],
      ["get", "github.com", "-a", "alice"], ["get", "--server", "github.com"],
      ["get", "internet:github.com"],
    ] as [[Word]])
  func names(words: [Word]) throws {
    let programs = try SecurityFixture()
    let world = programs.world
    for field in [[], ["--field", "note"], ["--field", "otp"]] as [[Word]] {
      #expect(world.run(["add", "github.com/alice"] + field, input: Array("note".utf8)).code == .done)
    }
    // The other program deletes the item only.
    #expect(programs.security("delete-internet-password", "-s", "github.com").status == 0)
    let command = words.map { $0 == "NAME" ? "github.com/alice" : $0 }
    // `edit` requires a terminal.
    let result = world.run(command, isTerminal: words[0] == "edit")
    #expect(result.code == .notFound && result.output == [], "\(result.diagnosticsText)")
    #expect(world.run("get", "github.com/alice", "--field", "note").text == "note")
  }

  @Test("an invalid field name is a usage error", arguments: ["", "Note", "a b", "-x", "con", "é", "a/b"])
  func badNames(name: String) throws {
    let world = try world()
    for command in ["add", "get", "set", "edit", "rm"] as [Word] {
      #expect(world.run(command, "github.com/alice", Word("--field=\(name)"), input: [1]).code == .usage)
    }
  }

  @Test(
    "the fields of a login are moved, copied and removed with it, in one transaction",
    arguments: [["mv"], ["cp"]] as [[Word]])
  func together(words: [Word]) throws {
    let world = try world()
    #expect(world.run(words + ["github.com/alice", "gist.example/bob"]).code == .done)
    #expect(world.run("get", "gist.example/bob", "--field", "note").text == "note")
    #expect(world.run("otp", "gist.example/bob").code == .done)
    let old = world.run("get", "github.com/alice", "--field", "note")
    #expect(old.code == (words == ["cp"] ? .done : .notFound))
    #expect(references(world).count == (words == ["cp"] ? 2 : 1))
    #expect(world.run("rm", "gist.example/bob").code == .done)
    #expect(world.run("get", "gist.example/bob", "--field", "note").code == .notFound)
  }

  @Test(
    "no part of a login is renamed or copied if one of the new names is taken", arguments: ["mv", "cp"])
  func taken(command: String) throws {
    let world = try world()
    #expect(world.run("add", "gist.example/bob", "--field", "otp", input: Array("x".utf8)).code == .done)
    let before = world.run("find", "--json").text
    let result = world.run(Word(command), "github.com/alice", "gist.example/bob")
    #expect(result.code == .alreadyExists)
    #expect(world.run("find", "--json").text == before)
    #expect(world.run("get", "github.com/alice").text == "password")
  }

  @Test("a single field can be removed")
  func alone() throws {
    let world = try world()
    #expect(world.run("rm", "github.com/alice", "--field", "otp").code == .done)
    #expect(world.run("find", "--json").text.contains(#""fields":["note"]"#))
    #expect(world.run("get", "github.com/alice").text == "password")
    #expect(world.run("otp", "github.com/alice").code == .notFound)
  }

  @Test("the fields of a local login are local")
  func local() throws {
    let world = try world()
    #expect(world.run("add", "local.example/a", "--local", input: Array("p".utf8)).code == .done)
    #expect(world.run("add", "local.example/a", "--field", "note", input: Array("n".utf8)).code == .done)
    let path = "items/internet-password/local.example/a/note.gpg"
    #expect(FileManager.default.fileExists(atPath: "\(world.store)/local/\(path)"))
    #expect(!FileManager.default.fileExists(atPath: "\(world.store)/\(path)"))
  }
}
