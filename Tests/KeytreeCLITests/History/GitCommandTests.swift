import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import Terminal
import TestSupport
import Testing

@Suite("keytree git", .serialized)
struct GitCommandTests {
  /// A git command, its exit status and a part of its output.
  static let commands: [([String], Int32, String)] = [
    (["log", "--format=%s", "-1"], 0, "add internet-password/a.example/alice\n"),
    (["diff", "HEAD~1", "--", "index"], 0, "+  account: alice\n"), (["diff", "--quiet", "HEAD~1"], 1, ""),
    (["nonsense"], 1, ""), (["rev-parse", "--verify", "x"], 128, ""),
    (["log", "-p", "--format=", "HEAD~1..", "--", "index"], 0, "+  account: alice\n"),
    (["log", "-p", "--format=", "HEAD~1..", "--", "items/*.gpg"], 0, "+encrypted file, "),
    (["log", "-p", "--format=", "HEAD~1..", "--", "items/*.json"], 0, "+  account: alice\n"),
    (["log", "-p", "--format=", "HEAD~1..", "--", "items/*.json"], 0, "+  signed: 20"),
    (["--version"], 0, "git version "),
    (["ls-files", "items/*.gpg"], 0, "items/internet-password/a.example/alice.gpg\n"),
  ]

  @Test(arguments: commands)
  func `keytree git passes arguments, streams and exit status through`(
    words: [String], status: Int32, text: String
  ) throws {
    let program = try Self.program()
    let outcome = try program.run(["git"] + words)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(text.isEmpty ? outcome.text.isEmpty : outcome.text.contains(text), "\(outcome.text)")
  }

  @Test func `keytree git commits pending changes before it shows anything`() throws {
    let program = try Self.program()
    let lock = "\(program.store)/.git/index.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    #expect(try program.run(["add", "b.example/bob"], input: "s").status == 11)
    try FileManager.default.removeItem(atPath: lock)
    #expect(
      try program.succeed(["git", "log", "-1", "--format=%s"]) == "add internet-password/b.example/bob\n")
  }

  @Test func `keytree git refuses a repository whose settings run programs`() throws {
    let program = try Self.program()
    try program.succeed(["git", "config", "alias.x", "!touch PWNED"])
    let outcome = try program.run(["git", "x"])
    #expect(outcome.status == 11)
    #expect(outcome.errors.contains("alias.x"))
    #expect(!FileManager.default.fileExists(atPath: "\(program.store)/PWNED"))
  }

  /// Files of a copied folder in which an operation has stopped, with which git would run a program.
  static let operations: [(command: String, path: String, content: String)] = [
    ("rebase", "rebase-merge/git-rebase-todo", "exec touch PWNED\n"),
    ("rebase", "rebase-merge/git-rebase-todo", "# x\n \tx touch PWNED"),
    ("rebase", "rebase-merge/strategy", "evil\n"),
    ("cherry-pick", "sequencer/opts", "[options]\n\tstrategy = evil\n"),
    ("cherry-pick", "sequencer/opts", "[OPTIONS] strategy=in\\\n\"dex\"\n"),
    ("revert", "sequencer/opts", "[options]\n\tstrategy = evil\n"),
    ("revert", "sequencer/todo", "revert HEAD\nexec touch PWNED\n"),
  ]

  @Test(arguments: operations)
  func `an operation that would run a program can only be aborted`(
    file: (command: String, path: String, content: String)
  ) throws {
    let program = try Self.program()
    try Self.stop(file.command, program)
    let path = ".git/\(file.path)"
    try Data(file.content.utf8).write(to: URL(fileURLWithPath: "\(program.store)/\(path)"))
    for words in [[file.command, "--continue"], [file.command, "--skip"], ["status"]] {
      let outcome = try program.run(["git"] + words)
      #expect(outcome.status == 11 && outcome.errors.contains(path), "\(outcome.errors)")
      #expect(outcome.errors.contains("`keytree git \(file.command) --abort`"))
    }
    #expect(!FileManager.default.fileExists(atPath: "\(program.store)/PWNED"))
    try program.succeed(["git", file.command, "--abort"])
    try program.succeed(["git", "status"])
  }

  @Test(arguments: ["rebase", "cherry-pick", "revert"])
  func `an operation that runs no program can be continued`(command: String) throws {
    let program = try Self.program()
    try Self.stop(command, program)
    for (name, value) in [("user.name", "P"), ("user.email", "p@example.org")] {
      try program.git(["config", name, value])
    }
    try program.succeed(["git", command, command == "rebase" ? "--continue" : "--skip"])
  }

  /// Begins a command of git that stops.
  private static func stop(_ command: String, _ program: ProcessesProgram) throws {
    if command == "rebase" {
      try program.git(["-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "HEAD~1"])
    } else {
      // The first of two steps changes nothing, so git asks the user what to do.
      try program.git(["revert", "--no-edit", "HEAD"])
      let commits = command == "revert" ? ["HEAD~1", "HEAD"] : ["HEAD~2", "HEAD~1"]
      #expect(throws: (any Error).self) { try program.git([command, "--strategy=ort"] + commits) }
    }
  }

  @Test func `keytree git starts the user's pager on a terminal only`() throws {
    let program = try Self.program()
    let pager = ["PAGER": "sed s/^/page:/"]
    #expect(try !program.run(["git", "log", "--format=%s"], variables: pager).text.contains("page:"))
    let shown = try program.run(["git", "log", "--format=%s"], variables: pager, onTerminal: true)
    #expect(shown.text.contains("page:add internet-password/a.example/alice"))
  }

  /// Damaged files, or files that do not belong to a store, and the text that is shown for them.
  static let files: [(String, [UInt8], String)] = [
    ("index", [], ""), ("index", Array("{\"a\":\u{1B}[1m\n".utf8), "unreadable line: {\"a\":\\x1b[1m\n"),
    ("index", [0xFF, 0x00, 0x0A], "unreadable line: \\xff\\x00\n"),
    ("item", [], "not an encrypted file, 0 bytes: the file is empty\n"),
    ("item", [1, 2, 3], "not an encrypted file, 3 bytes: the file is not a binary OpenPGP message\n"),
    ("record", [], "  signed: not readable\n"),
    (
      "record", Array("{\"a\":\u{1B}[1m\nx\n".utf8),
      "unreadable line: {\"a\":\\x1b[1m\n  signed: not readable\n"
    ),
  ]

  @Test(arguments: files)
  func `textconv shows any file without control characters`(kind: String, bytes: [UInt8], text: String) throws
  {
    let folder = ScratchFolder()
    let file = "\(folder.path)/file"
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let memory = MemoryConsole([])
    let code = Program.run(
      ["textconv", Word(kind), Word(file)], environment: Environment([:]), console: memory.console)
    #expect(code == .done)
    #expect(memory.output.text.hasPrefix(text), "\(memory.output.text)")
    #expect(memory.output.text.isEmpty == text.isEmpty)
  }

  private static func program() throws -> ProcessesProgram {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["add", "a.example/alice"], input: "secret")
    return program
  }
}

@Suite("Processes with a history", .serialized, .slow)
struct ProcessesHistoryTests {
  @Test func `all items that eight processes add concurrently are in the history`() throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try ThreadGroup.run(8) { thread in
      for number in 0..<10 { try program.succeed(["add", "h\(thread).example/a\(number)"], input: "s") }
    }
    let files = try program.succeed(["git", "ls-tree", "-r", "--name-only", "HEAD", "items"])
    for ending in [".gpg", ".json"] {
      #expect(files.split(separator: "\n").count { $0.hasSuffix(ending) } == 80)
    }
    #expect(try program.succeed(["git", "status", "--porcelain"]) == "")
    #expect(try program.succeed(["git", "fsck", "--strict"]) == "")
    let words = try program.succeed(["git", "log", "--format=%B"]).split(separator: "\n")
    #expect(words.count { $0.hasPrefix("add internet-password/h") } == 80)
  }

  /// A command in a store with a history, and the programs that it starts.
  static let starts: [([String], [String])] = [
    (["get", "a.example"], ["gpg"]), (["find"], []), (["get", "a.example", "--attributes"], []),
    (["set", "a.example", "-l", "L"], ["git", "gpg", "git", "git", "git"]),
    // The configuration of the repository is read before the command knows that nothing changes.
    (["set", "a.example", "-l", "A"], ["git"]),
  ]

  @Test(
    .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), arguments: starts)
  func `each command starts only these programs`(words: [String], programs: [String]) throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["add", "a.example/alice", "-l", "A"], input: "secret")
    let log = "\(program.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    try program.succeed(
      words, tracer: [strace, "-f", "-qq", "-e", "signal=none", "-e", "trace=execve", "-o", log])
    let started = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      // When two programs start concurrently, strace may split a call into an unfinished and a resumed line.
      .filter { $0.contains("execve(") && ($0.hasSuffix("= 0") || $0.hasSuffix("<unfinished ...>")) }
      .dropFirst()
      .compactMap { $0.split(separator: "\"").dropFirst().first?.split(separator: "/").last.map(String.init) }
    if programs == ["git"] {
      // A second git looks up the name of the committer in the background. The command may end before it starts.
      #expect([["git"], ["git", "git"]].contains(started))
      return
    }
    // gpg and the second git, which looks up the name of the committer, start concurrently.
    #expect(started.prefix(3).sorted() == programs.prefix(3).sorted())
    #expect(started.dropFirst(3) == programs.dropFirst(3))
  }
}
