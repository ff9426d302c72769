import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// The result of an edit whose item has changed concurrently: nothing is lost.
@Suite("An edited secret", .serialized)
struct EditMeanwhileTests {
  @Test("an edited secret is kept beside one that another process stored concurrently")
  func bothChanged() throws {
    let (world, result) = try edit(meanwhile: "printf theirs | \"$P\" set notes.example/x --secret")
    #expect(result.code == .failure)
    // The message wraps at the width of the terminal.
    let words = result.diagnosticsText.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("changed while you edited it: your version was saved as a conflict copy"))
    #expect(world.run("get", "notes.example/x").text == "theirs")
    let conflicts = world.run("resolve", "--json").text.split(separator: "\n")
    #expect(conflicts.count == 1)
    #expect(Self.field("item", in: conflicts[0]) == "keytree://internet-password/notes.example/x")
    #expect(world.run("resolve", "notes.example/x", "--keep", "theirs").code == .done)
    #expect(world.run("get", "notes.example/x").text == "mine")
    #expect(world.run("resolve", "--json").text == "")
  }

  @Test("an edited secret is stored again if the item was removed concurrently")
  func removed() throws {
    let (world, result) = try edit(meanwhile: "\"$P\" rm notes.example/x")
    #expect(result.code == .done)
    #expect(world.run("get", "notes.example/x").text == "mine")
    #expect(world.run("get", "notes.example/x", "--json").text.contains("\"label\":\"Label\""))
  }

  @Test("an edited secret is kept beside an item that has replaced the removed one")
  func replaced() throws {
    let (world, result) = try edit(
      meanwhile: "\"$P\" rm notes.example/x; printf theirs | \"$P\" add notes.example/x")
    #expect(result.code == .failure)
    #expect(world.run("get", "notes.example/x").text == "theirs")
    #expect(world.run("resolve", "notes.example/x", "--keep", "both").code == .done)
    #expect(world.run("get", "notes.example/x").text == "theirs")
    #expect(world.run("get", "notes.example/x 2").text == "mine")
  }

  @Test("an edited secret is stored in an item that was renamed or got other attributes concurrently")
  func moved() throws {
    let (world, result) = try edit(
      meanwhile: "\"$P\" mv notes.example/x notes.example/y; \"$P\" set notes.example/y -l New")
    #expect(result.code == .done)
    #expect(world.run("get", "notes.example/y").text == "mine")
    #expect(world.run("find", "-l", "New").code == .done)
    #expect(world.run("get", "notes.example/x").code == .notFound)
  }

  @Test("storing an edited secret can be retried until it succeeds")
  func retried() throws {
    let policy = "\"$KEYTREE_STORE/policy.json\""
    let (world, result) = try edit(
      meanwhile: "cp \(policy) \"$T/policy\"; echo >> \(policy); (sleep 1; cp \"$T/policy\" \(policy)) &",
      answers: String(repeating: "y\n", count: 10_000))
    #expect(result.code == .done)
    #expect(result.diagnosticsText.contains("The edited secret is not stored yet. Try again? [y/N] "))
    #expect(world.run("get", "notes.example/x").text == "mine")
  }

  @Test("an edited secret is discarded only when the user confirms it")
  func givenUp() throws {
    let (world, result) = try edit(
      meanwhile: "cp \"$KEYTREE_STORE/policy.json\" \"$T\"; echo >> \"$KEYTREE_STORE/policy.json\"",
      answers: "y\nn\n")
    #expect(result.code == .policyNotTrusted)
    #expect(result.diagnosticsText.split(separator: "Try again?").count == 3)
    let policy = try Data(contentsOf: URL(fileURLWithPath: world.folder.path + "/policy.json"))
    try policy.write(to: URL(fileURLWithPath: world.store + "/policy.json"))
    #expect(world.run("get", "notes.example/x").text == "old")
  }

  /// Edits `notes.example/x` with an editor that runs a command meanwhile.
  private func edit(
    meanwhile line: String, answers: String = ""
  ) throws -> (CommandFixture, CommandFixture.Result) {
    let world = try CommandFixture()
    #expect(world.run("add", "notes.example/x", "-l", "Label", input: Array("old".utf8)).code == .done)
    let editor = world.folder.path + "/editor"
    let script = """
      #!/bin/sh
      P='\(PseudoTerminal.program)' T='\(world.folder.path)'
      exec 2>&1 >"$T/log"
      printf mine > "$1"
      \(line)

      """
    try ExecutableFile.write(script, to: editor)
    let result = world.run(
      ["edit", "notes.example/x"], input: Array(answers.utf8), isTerminal: true, more: ["EDITOR": editor])
    return (world, result)
  }

  private static func field(_ name: String, in line: some StringProtocol) -> String? {
    line.components(separatedBy: "\"\(name)\":\"").dropFirst().first?.components(separatedBy: "\"").first
  }
}
