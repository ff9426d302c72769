import Arguments
import CommandSupport
import Foundation
import TestSupport
import Testing

/// `keytree pick` with the list on the terminal and with other programs.
@Suite("Choosing a login", .serialized)
struct PickCommandTests {
  private let world: CommandFixture

  init() throws {
    world = try .withoutGnuPG()
    for (name, secret) in [
      ("github.com/alice", "one"), ("github.com/bob", "two"), ("mail.example/alice", "three"),
    ] {
      #expect(world.run("add", Word(name), input: Array(secret.utf8)).code == .done)
    }
  }

  /// Installs a picker: a shell script that is on the search path.
  private func picker(_ script: String) throws -> [String: String] {
    let folder = world.folder.path + "/bin"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/my-picker"
    try ExecutableFile.write("#!/bin/sh\n\(script)\n", to: path)
    let home = world.folder.path + "/home"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    let variables = ["PATH": folder + ":/usr/bin:/bin"]
    #expect(world.run(["config", "picker", "my-picker --flag 'two words'"], more: variables).code == .done)
    return variables
  }

  @Test("the list on the terminal")
  func list() {
    let result = world.run("pick", "--print", input: Array("3\n".utf8), isTerminal: true)
    #expect(result.code == .done && result.text == "three\n")
    #expect(
      result.diagnosticsText.contains("  1  github.com/alice\n  2  github.com/bob\n  3  mail.example/alice\n")
    )
    let one = world.run("pick", "bob", "--print", isTerminal: true)
    #expect(one.text == "two\n")
    #expect(one.diagnosticsText.contains("Only github.com/bob matches."))
    #expect(world.run("pick", "github.com/bob", "--print", isTerminal: true).text == "two\n")
    for words in [["pick"], ["pick", "bob"]] {
      let script = world.run(words.map { Word($0) } + ["--print"])
      #expect(script.code == .cancelled && script.text == "", "without a terminal nothing is chosen")
    }
    let quiet = world.run("pick", "bob", "--print", "--quiet", isTerminal: true)
    #expect(quiet.text == "two\n" && quiet.diagnosticsText.contains("Only "))
    #expect(world.run("pick", "bob", "--print", "--json", isTerminal: true).code == .usage)
    #expect(world.run("pick", "nothing", "--print").code == .notFound)
    #expect(world.run("pick", "--print", "--type").code == .usage)
  }

  @Test("a picker reads the lines, and the line that it prints is the choice")
  func program() throws {
    let seen = world.folder.path + "/seen"
    let variables = try picker("printf '%s|' \"$@\" > \(seen); tee -a \(seen) | grep bob")
    let result = world.run(["pick", "--print"], more: variables)
    #expect(result.code == .done && result.text == "two")
    #expect(
      try String(contentsOfFile: seen, encoding: .utf8)
        == "--flag|two words|github.com/alice\ngithub.com/bob\nmail.example/alice\n")
    // A command for one item uses it as well, but only on a terminal.
    #expect(world.run(["get", "github"], isTerminal: true, more: variables).text == "two\n")
    #expect(world.run(["get", "github"], more: variables).code == .notFound)
  }

  @Test(
    "a picker that chooses nothing cancels, and one that fails is an error",
    arguments: [
      ("exit 1", false), ("exit 130", false), ("kill -9 $$", true), ("exit 127", true),
    ])
  func failures(script: String, isError: Bool) throws {
    let result = world.run(["pick", "--print"], more: try picker(script))
    #expect(result.code == (isError ? .failure : .cancelled) && result.text == "")
    #expect(result.diagnosticsText.contains("cannot use the picker") == isError)
    #expect(result.diagnosticsText.contains("\"my-picker --flag 'two words'\""))
  }

  @Test("typed text that is no line of the list chooses nothing")
  func typedText() throws {
    let result = world.run(["pick", "--print"], more: try picker("echo hub bob"))
    #expect(result.code == .notFound && result.text == "")
    #expect(result.diagnosticsText.contains("no item was chosen: \"hub bob\" is no line of the list"))
  }

  @Test("items with the same line are told apart, and a name cannot add a line")
  func lines() throws {
    #expect(
      world.run("add", "internet:evil", "-a", "x\ngithub.com/bob", input: Array("evil".utf8)).code == .done)
    #expect(world.run("add", "generic:github.com/bob", input: Array("generic".utf8)).code == .done)
    for (pattern, secret) in [("^internet:github.com/bob$", "two"), ("^generic:github.com/bob$", "generic")] {
      #expect(world.run(["pick", "--print"], more: try picker("grep '\(pattern)'")).text == secret)
    }
    #expect(world.run("add", "github.com/bob", "-r", "ftp", input: Array("ftp".utf8)).code == .done)
    #expect(world.run(["pick", "--print"], more: try picker("grep '(protocol ftp)'")).text == "ftp")
  }

  @Test("with --no-input no picker is started")
  func noInput() throws {
    let seen = world.folder.path + "/seen"
    let result = world.run(
      ["pick", "--print", "--no-input"], more: try picker("tee \(seen) | head -n 1"))
    #expect(result.code == .cancelled && result.text == "")
    #expect(!FileManager.default.fileExists(atPath: seen))
  }

  @Test("a field whose item is gone is no login; its seed gives codes")
  func fieldsAlone() {
    let seed = Array("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ".utf8)
    #expect(world.run("otp", "add", "seed.example/x", input: seed).code == .done)
    #expect(world.run("add", "lone.example/x", "--field", "note", input: [0x78]).code == .done)
    for words in ["seed.example", "lone.example"] {
      let result = world.run("pick", Word(words), "--print", isTerminal: true)
      #expect(result.code == .notFound && result.text == "")
    }
    let code = world.run("pick", "seed.example", "--otp", "--print", isTerminal: true)
    #expect(code.code == .done && code.text.utf8.count == 7)
  }

  @Test("--otp copies the code of a login that has a seed")
  func otp() {
    let seed = Array("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ".utf8)
    #expect(world.run("otp", "add", "mail.example/alice", input: seed).code == .done)
    let result = world.run("pick", "--otp", "--print", isTerminal: true)
    #expect(result.code == .done && result.output.count == 7)
    #expect(result.diagnosticsText.contains("Valid for"))
    #expect(world.run("pick", "github", "--otp", "--print").code == .notFound)
  }

  @Test("--type passes the secret through a pipe, and refuses several lines")
  func typing() throws {
    let seen = world.folder.path + "/typed"
    var variables = try picker("head -1")
    let program = world.folder.path + "/bin/xdotool"
    try ExecutableFile.write("#!/bin/sh\nprintf '%s ' \"$@\" > \(seen)\ncat >> \(seen)\n", to: program)
    #expect(
      world.run(["pick", "bob", "--type"], more: variables).diagnosticsText.contains("cannot type: neither"))
    variables["DISPLAY"] = ":7"
    let result = world.run(["pick", "bob", "--type"], more: variables)
    #expect(
      result.code == .done && result.text == "" && result.diagnosticsText.contains("Typed the secret of"))
    #expect(try String(contentsOfFile: seen, encoding: .utf8) == "type --clearmodifiers --file - two")
    #expect(world.run("add", "lines/x", input: Array("a\nb".utf8)).code == .done)
    let lines = world.run(["pick", "lines", "--type"], more: variables)
    #expect(lines.code == .failure && lines.diagnosticsText.contains("several lines"))
  }
}
