import Arguments
import CommandSupport
import Foundation
import TestSupport
import Testing

/// `keytree show`, and secrets on a terminal.
@Suite("A login at a glance", .serialized)
struct ShowCommandTests {
  private let world: CommandFixture

  init() throws {
    world = try .withoutGnuPG()
    let words: [Word] = ["-l", "GitHub", "--tag", "dev", "--url", "https://github.com/login"]
    #expect(world.run(["add", "github.com/alice"] + words, input: Array("hunter2".utf8)).code == .done)
    #expect(
      world.run("add", "github.com/alice", "--field", "note", input: Array("two\nlines\n".utf8)).code == .done
    )
  }

  @Test("a login is shown with its attributes and the names of its fields, and nothing is decrypted")
  func glance() {
    let result = world.run("show", "github.com/alice", "--explain")
    #expect(result.code == .done && result.text.hasPrefix("github.com/alice  GitHub\n"))
    for line in [
      "  account      alice", "  url          https://github.com/login", "  tags         dev",
      "  fields       note",
      "  group        default",
    ] {
      #expect(result.text.contains(line + "\n"))
    }
    #expect(!result.text.contains("hunter2") && !result.diagnosticsText.contains("items decrypted: 1"))
    let json = world.run("show", "github.com/alice", "--json").text
    #expect(json.contains("\"fields\":[\"note\"]") && !json.contains("hunter2"))
  }

  @Test("--reveal prints the secret and the fields of this login byte for byte")
  func reveal() {
    let result = world.run("show", "github.com/alice", "--reveal")
    #expect(result.text.hasSuffix("secret:\nhunter2\nnote:\ntwo\nlines\n"))
    let lines = world.run("show", "github.com/alice", "--reveal", "--json").text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].contains("\"secret\":\"hunter2\""))
    #expect(lines[1].contains("\"field\":\"note\"") && lines[1].contains("\"secret\":\"two\\nlines\\n\""))
  }

  @Test(
    "a secret that is not text is printed on a terminal only after a question",
    arguments: [[0xFF], Array("\u{1B}[2J".utf8), [0x00], Array("a\u{9B}b".utf8)] as [[UInt8]])
  func binary(secret: [UInt8]) {
    #expect(world.run("add", "binary/x", input: secret).code == .done)
    for words in [["get", "binary/x"], ["show", "binary/x", "--reveal"]] as [[Word]] {
      let no = world.run(words, input: Array("n\n".utf8), isTerminal: true)
      #expect(no.code == .cancelled && !no.output.contains(secret))
      #expect(no.diagnosticsText.contains("is not text"))
      let refused = world.run(words + ["--no-input"], isTerminal: true)
      #expect(refused.code == .cancelled && !refused.output.contains(secret))
      #expect(world.run(words, input: Array("y\n".utf8), isTerminal: true).output.contains(secret))
    }
    #expect(world.run("get", "binary/x").output == secret, "a pipe gets the bytes without a question")
  }

  @Test("text with tabs, line feeds and letters of any alphabet is printed without a question")
  func text() {
    let secret = Array("tab\tßöλ😀\r\nend".utf8)
    #expect(world.run("add", "text/x", input: secret).code == .done)
    #expect(world.run("get", "text/x", isTerminal: true).output == secret + [0x0A])
  }

  @Test("a line feed at the end of piped input is stored and mentioned")
  func lineFeed() {
    let result = world.run("add", "echo/x", input: Array("s\n".utf8))
    #expect(result.diagnosticsText.contains("ends with a line feed, which is stored"))
    #expect(world.run("get", "echo/x").text == "s\n")
    #expect(!world.run("add", "printf/x", input: Array("s".utf8)).diagnosticsText.contains("line feed"))
  }

  @Test("an empty secret needs --allow-empty")
  func emptySecret() {
    #expect(world.run("add", "empty/x").code == .failure)
    #expect(world.run("add", "empty/x", "--allow-empty").code == .done)
    let result = world.run("get", "empty/x")
    #expect(result.code == .done && result.output == [])
    #expect(
      world.run("add", "prompt/x", "--allow-empty", input: Array("\n\n".utf8), isTerminal: true).code == .done
    )
  }
}
