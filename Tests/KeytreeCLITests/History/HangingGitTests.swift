import Foundation
import TestSupport
import Testing

/// Signals for a command that waits for a git which does not end.
@Suite(.serialized, .slow) struct HangingGitTests {
  /// A command, the command of git that hangs, and a signal.
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let command: String
    let signal: Int32
    var testDescription: String { "\(words.joined(separator: " ")), \(command), signal \(signal)" }
  }

  static let cases: [Case] = [
    Case(words: ["sync"], command: "fetch", signal: SIGTERM),
    Case(words: ["sync"], command: "fetch", signal: SIGINT),
    Case(words: ["sync"], command: "fetch", signal: SIGHUP),
    Case(words: ["mv", "a.example/me", "b.example/me"], command: "fast-import", signal: SIGTERM),
    Case(words: ["verify"], command: "cat-file", signal: SIGTERM),
    Case(words: ["verify"], command: "cat-file", signal: SIGINT),
    Case(words: ["git", "log"], command: "log", signal: SIGTERM),
    Case(words: ["git", "log"], command: "log", signal: SIGHUP),
  ]

  @Test(arguments: cases)
  func `a signal ends the command and the git that it waits for`(_ example: Case) throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["add", "a.example/me"], input: "s")
    let hub = "\(program.folder)/hub.git"
    try program.git(["init", "-q", "--bare", "-b", "main", hub])
    try program.succeed(["git", "remote", "add", "origin", hub])
    try program.succeed(["sync"])
    let tools = "\(program.folder)/tools"
    try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: false)
    // It does not obey SIGTERM, and tells its number and that of what it has started.
    let script = """
      #!/bin/sh
      for word; do
        if [ "$word" = '\(example.command)' ]; then
          trap '' TERM INT HUP
          sleep 1000 & echo $$ $! >'\(tools)/part'; mv '\(tools)/part' '\(tools)/numbers'
          while :; do sleep 0.05; done
        fi
      done
      exec /usr/bin/git "$@"

      """
    try ExecutableFile.write(script, to: "\(tools)/git")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ProcessesProgram.path)
    process.arguments = example.words
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    process.environment = program.variables.merging(["PATH": "\(tools):\(path)"]) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let numbers = try processes("\(tools)/numbers", of: process)
    defer { for number in numbers { kill(number, SIGKILL) } }
    kill(process.processIdentifier, example.signal)
    let start = ContinuousClock.now
    while process.isRunning, ContinuousClock.now - start < .seconds(10) { usleep(10_000) }
    #expect(!process.isRunning)
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal || process.terminationStatus != 0)
    // `keytree git` shares its process group with git, so that only git itself is ended. A process that was just killed
    // may still be listed.
    let gone = example.words[0] == "git" ? numbers.prefix(1) : numbers[...]
    for number in gone {
      while isRunning(number), ContinuousClock.now - start < .seconds(10) { usleep(10_000) }
      #expect(!isRunning(number), "\(number) of \(numbers)")
    }
    try program.succeed(["check"])
    try program.succeed(["sync"])
  }

  private func processes(_ file: String, of process: Process) throws -> [pid_t] {
    for _ in 0..<3000 where process.isRunning {
      if let text = try? String(contentsOfFile: file, encoding: .utf8) {
        return text.split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
      }
      usleep(10_000)
    }
    return try #require(nil, "git was not run")
  }

  private func isRunning(_ number: pid_t) -> Bool {
    let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
    return text.map { !$0.contains(") Z ") } ?? false
  }
}
