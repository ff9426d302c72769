import Arguments
import CommandSupport
import Encoding
import Foundation
import Terminal
import Testing

@testable import KeytreeCLI

/// The help of the whole program, its version, and the reference of its commands.
@Suite("Help of the program")
struct ProgramHelpTests {
  private let world: CommandFixture

  init() throws { world = try .withoutGnuPG() }

  @Test("the list of commands fits on a terminal with 24 lines of 80 columns")
  func screen() {
    let result = world.run("--help", isTerminal: true)
    let lines = result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    // The prompt needs a line, too.
    #expect(result.code == .done && lines.count < 24 && lines.allSatisfy { $0.count <= 80 }, "\(lines.count)")
    for command in Program.declaration.visibleCommands { #expect(result.text.contains(command.name)) }
  }

  @Test("each command has one topic, and each topic has commands that exist")
  func topics() {
    let names = Program.topics.flatMap(\.commands)
    #expect(names.count == Set(names).count)
    #expect(Set(names).isSubset(of: Set(Program.declaration.visibleCommands.map(\.name))))
  }

  @Test("without a command, a user without a store is told how to begin")
  func beginning() throws {
    let new = world.run([], isTerminal: true, more: ["KEYTREE_STORE": world.folder.path + "/none"])
    #expect(new.code == .usage && new.text.isEmpty)
    #expect(new.diagnosticsText.contains("There is no store yet."), "\(new.diagnosticsText)")
    #expect(new.diagnosticsText.contains("keytree demo"))
    let script = world.run([], more: ["KEYTREE_STORE": world.folder.path + "/none"])
    #expect(script.code == .usage && !script.diagnosticsText.contains("no store"))
    let known = world.run([], isTerminal: true)
    #expect(known.code == .usage && known.diagnosticsText == world.run("--help", isTerminal: true).text)
  }

  @Test("the examples for the beginning parse")
  func beginningParses() throws {
    for example in Program.beginning {
      let words = example.line.split(separator: " ").dropFirst().map { Word(String($0)) }
      let call = try Program.declaration.parse(words)
      #expect(!call.path.isEmpty)
    }
  }

  @Test("version --json names the commit and the versions of gpgme and GnuPG", arguments: [nil, "0a1b"])
  func version(commit: String?) throws {
    let output = MemoryOutput()
    let console = Console(
      input: BytesInput([], isTerminal: false, screen: MemoryOutput()), output: output, talk: MemoryOutput())
    let status = Program.status(
      of: ["--json", "version"], environment: Environment(world.variables), console: console, commit: commit)
    #expect(status == 0)
    let members = try #require(try JSONSerialization.jsonObject(with: Data(output.bytes)) as? [String: Any])
    #expect(Set(members.keys) == ["commit", "gnupg", "gpgme", "version"])
    #expect(members["commit"] as? String == commit)
    #expect(members["version"] as? String == ProgramVersion.number)
    for name in ["gnupg", "gpgme"] {
      let text = try #require(members[name] as? String, "\(name)")
      #expect(text.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+.*/) != nil, "\(text)")
    }
  }

  @Test("version --json works without gpg")
  func versionWithoutGnuPG() throws {
    let result = world.run(["version", "--json"], more: ["PATH": "/nonexistent"])
    #expect(result.code == .done && result.text.contains("\"gnupg\":null"), "\(result.text)")
  }

  /// With `UPDATE_TRANSCRIPTS=1` in the environment, the article is rewritten.
  @Test("the article with the reference of all commands is what the program prints")
  func reference() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
    let file = root.appendingPathComponent("Sources/Keyring/Keyring.docc/CommandReference.md")
    let printed = world.run("help", "--markdown").text
    if ProcessInfo.processInfo.environment["UPDATE_TRANSCRIPTS"] != nil {
      try printed.write(to: file, atomically: true, encoding: .utf8)
    }
    let article = try String(contentsOf: file, encoding: .utf8)
    let difference = LineDifference.show(
      article.components(separatedBy: "\n"), printed.components(separatedBy: "\n"))
    #expect(difference == "", "- article, + program:\n\(difference)")
  }
}
