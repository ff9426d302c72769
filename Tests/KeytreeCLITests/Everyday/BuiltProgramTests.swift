import Arguments
import CommandSupport
import Foundation
import Glibc
import KeytreeCLI
import TestSupport
import Testing

/// The built program in real terminals and pipes.
@Suite("The built program", .serialized)
struct BuiltProgramTests {
  @Test("add asks twice for a secret without echo, and get prints it with a line feed on a terminal")
  func prompts() throws {
    let world = try CommandFixture()
    let add = try PseudoTerminal(["add", "pty.example/x"], variables: world.variables)
    try add.wait(for: "Secret for pty.example/x: ")
    add.type("tops3cret\n")
    try add.wait(for: "Retype the secret: ")
    add.type("tops3cret\n")
    let (said, code) = add.finish()
    #expect(code == 0)
    #expect(said == "\r\nAdded pty.example/x.\r\n", "nothing typed is echoed")
    let get = try PseudoTerminal(["get", "pty.example"], variables: world.variables)
    #expect(get.finish() == ("tops3cret\r\n", 0))
    let list = try PseudoTerminal(["ls"], variables: world.variables).finish()
    #expect(list.text.hasPrefix("\u{1B}[1mCONTAINER    ACCOUNT  MODIFIED\u{1B}[0m\r\n"))
  }

  @Test("the keyboard interrupts a question, and nothing is stored")
  func interrupted() throws {
    let world = try CommandFixture()
    let before = StoreDigest(of: world.store)
    for (keys, ending) in [("\u{3}", -SIGINT), ("\u{4}", 3)] {
      let add = try PseudoTerminal(["add", "pty.example/x"], variables: world.variables)
      try add.wait(for: "Secret for pty.example/x: ")
      add.type(keys)
      #expect(add.finish().code == ending)
    }
    let refused = try PseudoTerminal(["add", "pty.example/x", "--no-input"], variables: world.variables)
    #expect(refused.finish().code == 3)
    #expect(StoreDigest(of: world.store) == before)
  }

  @Test("edit works on a terminal, in memory, and leaves nothing behind")
  func edits() throws {
    let world = try CommandFixture()
    #expect(world.run("add", "notes.example/x", input: Array("old".utf8)).code == .done)
    let editor = world.folder.path + "/editor"
    let seen = world.folder.path + "/seen"
    let script =
      "#!/bin/sh\necho \"$1\" > \(seen); stat -f -c %T \"$1\" >> \(seen); printf 'new\\n' > \"$1\"\n"
    try ExecutableFile.write(script, to: editor)
    var variables = world.variables
    variables["EDITOR"] = editor
    let edit = try PseudoTerminal(["edit", "notes.example/x"], variables: variables)
    try edit.wait(for: "Changed the secret of notes.example/x.")
    #expect(edit.finish().code == 0)
    #expect(world.run("get", "notes.example").text == "new")
    let lines = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n")
    #expect(lines.last == "tmpfs")
    #expect(!FileManager.default.fileExists(atPath: String(lines[0])))
  }

  @Test("a closed standard input is no secret, and a pipe is read to its last byte")
  func pipes() throws {
    let world = try CommandFixture()
    let before = StoreDigest(of: world.store)
    #expect(try shell("\"$P\" add a.example <&-", world).code == 1)
    #expect(try shell("\"$P\" add a.example </dev/null", world).code == 1)
    #expect(StoreDigest(of: world.store) == before)
    #expect(try shell("printf 'a\\000\\377\\n' | \"$P\" add \"$(printf 'caf\\351')\"", world).code == 0)
    let got = try shell("\"$P\" get \"$(printf 'caf\\351')\" | od -An -tx1", world)
    #expect(got.text == " 61 00 ff 0a\n")
    #expect(try shell("\"$P\" find", world).text.hasPrefix("internet-password\tcaf\\xe9\t\t\tdefault\t"))
  }

  @Test("a command is silent when the reader of its data goes away, and reports a full disk")
  func brokenOutput() throws {
    let world = try CommandFixture()
    #expect(world.run("add", "a.example", input: [1]).code == .done)
    let closed = try shell("{ \"$P\" find; echo $? >&2; } | true; sleep 0.2", world)
    #expect(!closed.text.contains("keytree:"))
    let full = try shell("\"$P\" get a.example > /dev/full", world)
    #expect(full.code == 1)
    #expect(full.text.hasPrefix("keytree: cannot write standard output: No space left on device\nhint: "))
  }

  @Test("only the owner can read a file that get --out writes")
  func umask() throws {
    let world = try CommandFixture()
    #expect(world.run("add", "a.example", input: [1]).code == .done)
    let made = try shell("umask 0; cd \"$T\"; \"$P\" get a.example --out made; stat -c %a made", world)
    #expect(made.text.hasSuffix("600\n"))
    // Only the owner can read the files that git creates, too.
    let own = "umask 0; export KEYTREE_STORE=\"$T/own\"; \"$P\" init --quiet; "
    let modes = try shell(own + "printf s | \"$P\" add a.example --quiet; find \"$T/own\" -perm /077", world)
    #expect(modes.text == "")
  }

  @Test func `a service without HOME and XDG_RUNTIME_DIR can use the store that --store names`() throws {
    let world = try CommandFixture()
    #expect(world.run("add", "a.example", input: [1]).code == .done)
    for start in ["env -i", "env -i HOME= XDG_RUNTIME_DIR="] {
      for (command, text) in [
        ("find", "a.example"), ("show a.example", "a.example"), ("verify", "nothing is wrong"),
        ("history a.example", "added"),
      ] {
        let found = try shell("\(start) \"$P\" --store \"$KEYTREE_STORE\" \(command)", world)
        #expect(found.code == 0 && found.text.contains(text), "\(command): \(found.text)")
      }
    }
  }

  /// Runs a line of shell with the program in `$P` and the test's folder in `$T`.
  func shell(_ line: String, _ world: CommandFixture) throws -> (text: String, code: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line]
    process.environment = world.variables
      .merging(["P": PseudoTerminal.program, "T": world.folder.path]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: output, as: UTF8.self), process.terminationStatus)
  }
}
