import Glibc
import KeytreeCLI
import Secrets
import Terminal
import Testing

@Suite("The console", .serialized)
struct ConsoleTests {
  @Test(
    "the console writes a secret byte for byte, with a line feed on a terminal", arguments: [false, true])
  func secret(isTerminal: Bool) throws {
    let memory = MemoryConsole(isTerminal: isTerminal)
    let bytes: [UInt8] = [0, 0xFF, 10, 65]
    memory.console.print("first")
    memory.console.write(secret: SecretBytes(copying: bytes))
    try memory.console.finish()
    #expect(memory.output.bytes == Array("first\n".utf8) + bytes + (isTerminal ? [10] : []))
  }

  @Test("the console reports that output could not be written", arguments: [ENOSPC, EIO])
  func failingOutput(number: Int32) {
    let memory = MemoryConsole()
    memory.output.failure = number
    memory.console.print("x")
    #expect(throws: TerminalError.outputFailed(errno: number)) { try memory.console.finish() }
  }

  @Test("the console notices that the reader of its output has gone away")
  func closedOutput() {
    let memory = MemoryConsole()
    memory.output.failure = EPIPE
    memory.console.print("x")
    memory.console.flush()
    #expect(memory.console.outputIsClosed)
    #expect(throws: TerminalError.outputClosed) { try memory.console.finish() }
  }

  @Test("the console separates diagnostics from data, and writes none when quiet")
  func talk() {
    let memory = MemoryConsole()
    memory.console.isQuiet = true
    memory.console.print("data")
    memory.console.say("talk")
    #expect(memory.talk.text == "")
    memory.console.complain("error")
    #expect(memory.output.text == "data\n")
    #expect(memory.talk.text == "error\n")
  }

  @Test(
    "messages wrap between words on a terminal",
    arguments: [
      (40, "keytree: no item is named github.com/alice", "keytree: no item is named\ngithub.com/alice\n"),
      (
        40, "  git.example/alice  (port 8443)  A long label",
        "  git.example/alice  (port 8443)  A long\n  label\n"
      ),
      (
        20, "hint: `gpg --export 0123456789ABCDEF0123456789` x",
        "hint: `gpg --export\n0123456789ABCDEF0123456789`\nx\n"
      ),
      (10, "東京 大阪 京都", "東京 大阪\n京都\n"),
    ] as [(Int, String, String)])
  func wraps(columns: Int, line: String, shown: String) {
    let memory = MemoryConsole(isTerminal: true, columns: columns)
    memory.console.complain(line)
    #expect(memory.talk.text == shown)
    let pipe = MemoryConsole(isTerminal: false, columns: columns)
    pipe.console.complain(line)
    #expect(pipe.talk.text == line + "\n")
    // A report is data, and wraps in the same way.
    for console in [memory.console, pipe.console] {
      console.print(wrapping: line)
      console.flush()
    }
    #expect(memory.output.text == shown && pipe.output.text == line + "\n")
  }

  @Test("questions and facts wrap between words on a terminal")
  func wrapsQuestions() throws {
    let memory = MemoryConsole(["y"], isTerminal: true, columns: 40)
    #expect(try memory.console.confirm("Accept these people on this machine"))
    #expect(memory.talk.text.hasPrefix("Accept these people on this machine?\n[y/N] "))
    var facts = FactList()
    facts.add("policy", "generation 2, this machine has not accepted any policy")
    memory.console.print(facts)
    try memory.console.finish()
    #expect(memory.output.text == "policy  generation 2, this machine has\n        not accepted any policy\n")
    // A fingerprint is not broken as long as the terminal is wide enough for it.
    let digits = String(repeating: "8", count: 36)
    var people = FactList()
    people.add("person", "\(digits) Alice")
    #expect(people.lines(width: 40) == ["person", "    \(digits)", "        Alice"])
  }

  @Test(
    "the console accepts only yes as yes",
    arguments: [
      (["y"], true), (["YES"], true), (["yes"], true), (["n"], false), ([""], false), (["yy"], false),
      ([], false),
    ] as [([String], Bool)])
  func confirm(lines: [String], answer: Bool) throws {
    let memory = MemoryConsole(lines, isTerminal: true)
    #expect(try memory.console.confirm("Remove 2 items") == answer)
    #expect(memory.talk.text.hasPrefix("Remove 2 items? [y/N] "))
  }

  @Test("the console never assumes yes without a terminal")
  func noTerminal() {
    let memory = MemoryConsole(["y"])
    #expect(throws: TerminalError.promptImpossible(question: "Remove", .noTerminal)) {
      try memory.console.confirm("Remove")
    }
    let refusing = MemoryConsole(["y"], isTerminal: true)
    refusing.console.refusesInput = true
    #expect(throws: TerminalError.promptImpossible(question: "Remove", .inputRefused)) {
      try refusing.console.confirm("Remove")
    }
    #expect(refusing.talk.text == "")
  }

  @Test("the console takes a new secret from a pipe to the last byte, even if prompts are refused")
  func pipedSecret() throws {
    let memory = MemoryConsole(["line 1", "line 2"])
    memory.console.refusesInput = true
    let secret = try memory.console.newSecret(for: "x", limit: 100)
    #expect(secret.revealed == Array("line 1\nline 2\n".utf8))
  }

  @Test(
    "the console asks for a new secret twice on a terminal",
    arguments: [
      (["a", "a"], nil),
      (["a", "b", "c", "c"], nil),
      (["a", "b", "a", "b", "a", "b"], .secretsDiffer),
      ([""], .emptySecret),
      ([], .cancelled(action: "the question was not answered")),
      (["123456"], .secretTooLong(limit: 5)),
    ] as [([String], TerminalError?)])
  func typedSecret(lines: [String], failure: TerminalError?) throws {
    let memory = MemoryConsole(lines, isTerminal: true)
    do throws {
      let secret = try memory.console.newSecret(for: "x", limit: 5)
      #expect(failure == nil)
      #expect(secret.revealed == Array((lines.last ?? "").utf8))
    } catch {
      #expect(error as? TerminalError == failure)
    }
    #expect(!memory.talk.text.contains("123456"))
  }

  @Test("the console refuses an empty secret, and one that is too long, from a pipe")
  func badPipe() {
    #expect(throws: TerminalError.emptySecret) {
      try MemoryConsole().console.newSecret(for: "x", limit: 5).revealed
    }
    #expect(throws: TerminalError.secretTooLong(limit: 3)) {
      try MemoryConsole(["abcd"]).console.newSecret(for: "x", limit: 3).revealed
    }
  }
}
