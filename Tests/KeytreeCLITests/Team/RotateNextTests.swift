import Arguments
import CommandSupport
import Foundation
import Glibc
import KeytreeCLI
import Terminal
import TestSupport
import Testing

@Suite("keytree rotate next", .serialized, .slow)
struct RotateNextTests {
  @Test("rotate next requires a terminal, and says so before it reads anything")
  func terminal() throws {
    let world = try CommandFixture.afterBobLeft()
    #expect(world.run("rotate", "next").code == .cancelled)
    #expect(world.run(["rotate", "next", "--no-input"], isTerminal: true).code == .cancelled)
    let output = MemoryOutput()
    let talk = MemoryOutput(isTerminal: true)
    let console = Console(
      input: BytesInput([], isTerminal: true, screen: talk), output: output, talk: talk)
    let code = Program.run(["rotate", "next"], environment: Environment(world.variables), console: console)
    #expect(code == .cancelled && talk.text.contains("standard output is not a terminal"))
    #expect(world.run(["--store", "/nonexistent", "rotate", "next"]).code == .cancelled)
  }

  @Test("a generated secret is shown, and stored in the item once it is in use")
  func generates() throws {
    let world = try CommandFixture.afterBobLeft(["b.example/alice"])
    try world.done(["set", "a.example", "--attribute", "url=https://a.example/login"])
    let result = world.next("g", "y")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    for fact in [
      "url          https://a.example/login", "server       a.example", "account      alice",
      "read by      Bob Example <bob@keytree.example>, who left on ", "1 more is open",
      "A new secret, 24 characters from a set of 94: 157 bits of entropy:",
    ] {
      #expect(result.diagnosticsText.contains(fact), "\(fact) in \(result.diagnosticsText)")
    }
    let secret = try world.secret()
    #expect(secret.utf8.count == 24 && result.text == secret + "\n")
    #expect(!result.diagnosticsText.contains(secret), "the secret is written to standard output only")
    #expect(try world.rotations() == ["open keytree://internet-password/b.example/alice"])
    #expect(world.waiting() == 0)
    #expect(try world.subjects().last == "change internet-password/a.example/alice")
    // An empty answer generates a secret, too.
    #expect(world.next("", "y", words: ["3", "--words"]).code == .done)
    #expect(try world.secret("b.example").split(separator: "-").count == 3)
    #expect(world.next().diagnosticsText.contains("No secret has to be changed."))
  }

  @Test("a secret that is not in use yet is kept and offered again")
  func waits() throws {
    let world = try CommandFixture.afterBobLeft()
    let first = world.next("g", "n", "n")
    #expect(first.code == .done && first.diagnosticsText.contains("The new secret stays pending"))
    #expect(try world.secret() == "old" && world.waiting() == 1)
    #expect(try world.git("status", "--porcelain") == "", "the pending secret is not in git")
    let later = world.next("l")
    #expect(
      later.diagnosticsText.contains("You cannot change any other")
        || later.diagnosticsText.contains("No secret has to be"))
    let second = world.next("s", "i")
    #expect(second.code == .done && second.text == first.text, "it is the same secret")
    #expect(try world.secret() + "\n" == first.text)
    #expect(try world.waiting() == 0 && world.rotations().isEmpty)
  }

  @Test("discarding a new secret keeps the old one")
  func discards() throws {
    let world = try CommandFixture.afterBobLeft()
    #expect(world.next("g", "n", "y").code == .done)
    #expect(try world.waiting() == 0 && world.secret() == "old")
    _ = world.next("g", "n", "n")
    #expect(world.next("x", "d").code == .done)
    #expect(try world.waiting() == 0 && world.secret() == "old")
    #expect(try world.rotations().count == 1)
  }

  @Test("a secret can be typed, but not the old one again, which is shown on request")
  func typed() throws {
    let world = try CommandFixture.afterBobLeft()
    let result = world.next("o", "t", "old", "old", "t", "brand new", "brand new", "y")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(result.text == "old\n" && result.diagnosticsText.contains("That is the current secret."))
    #expect(try world.secret() == "brand new")
  }

  @Test("a secret can be edited")
  func edited() throws {
    let world = try CommandFixture.afterBobLeft()
    let editor = world.folder.path + "/editor"
    try ExecutableFile.write("#!/bin/sh\nprintf edited > \"$1\"\n", to: editor)
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    #expect(world.next("e", "y", more: ["EDITOR": editor]).code == .done)
    #expect(try world.secret() == "edited")
  }

  @Test("other items can be skipped, accepted or postponed")
  func choices() throws {
    let world = try CommandFixture.afterBobLeft(["b.example/alice", "c.example/alice"])
    #expect(world.next("q").code == .done)
    #expect(world.next().code == .cancelled, "the end of input is not an answer")
    #expect(world.next("s", "what", "a", "", "a", "for everybody").code == .done)
    #expect(
      try world.rotations() == [
        "open keytree://internet-password/a.example/alice",
        "open keytree://internet-password/c.example/alice",
        "accepted keytree://internet-password/b.example/alice",
      ])
    #expect(world.next("s", "s").diagnosticsText.contains("You cannot change any other open secret."))
    #expect(try world.secret() == "old")
  }

  @Test("a secret that another user has stored concurrently is kept beside the new one")
  func meanwhile() throws {
    let world = try CommandFixture.afterBobLeft()
    let mine = world.next("g", "n", "n").text
    try world.done(["set", "a.example", "--secret"], input: "theirs")
    let result = world.next("i")
    #expect(
      result.code == .failure
        && result.diagnosticsText.unwrapped.contains("was changed concurrently: yours is kept as"))
    #expect(try world.secret() == "theirs" && world.waiting() == 0)
    try world.done(["resolve", "a.example", "--keep", "theirs"])
    #expect(try world.secret() + "\n" == mine)
  }

  @Test(
    "a pending secret is removed if its item already has it, or if its item no longer exists")
  func already() throws {
    let world = try CommandFixture.afterBobLeft()
    let new = world.next("g", "n", "n").text
    try world.done(["set", "a.example", "--secret"], input: String(new.dropLast()))
    #expect(
      world.next().diagnosticsText.contains("The item already has this secret, so it is no longer pending."))
    #expect(try world.waiting() == 0 && world.secret() + "\n" == new)
    let other = try CommandFixture.afterBobLeft()
    _ = other.next("g", "n", "n")
    try other.done(["rm", "a.example"])
    let gone = other.next("i", "d")
    #expect(
      gone.diagnosticsText.unwrapped.contains(
        "A new secret for a.example/alice has been pending since"))
    #expect(gone.diagnosticsText.contains(".\nThe item no longer exists.\n"))
    #expect(other.waiting() == 0)
  }

  @Test("no secret is lost if the command is killed on a real terminal")
  func killed() throws {
    let world = try CommandFixture.afterBobLeft()
    let first = try PseudoTerminal(["rotate", "next"], variables: world.variables)
    try first.wait(for: "[q]uit: ")
    first.type("g\n")
    try first.wait(for: "bits of entropy:\r\n")
    try first.wait(for: "Is the new secret in use? [y/N] ")
    first.end(by: SIGKILL)
    #expect(first.finish().code == -SIGKILL)
    #expect(try world.secret() == "old")
    let second = try PseudoTerminal(["rotate", "next"], variables: world.variables)
    try second.wait(for: "[l]ater: ")
    second.type("s\n")
    try second.wait(for: "s\r\n")
    try second.wait(for: "\r\n[s]how")
    try second.wait(for: "[l]ater: ")
    second.type("i\n")
    let (said, code) = second.finish()
    #expect(code == 0 && said.contains("Changed the secret of a.example/alice."))
    #expect(try world.secret().utf8.count == 24 && world.waiting() == 0)
    #expect(try world.rotations().isEmpty)
  }
}
