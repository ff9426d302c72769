import Foundation
import TestSupport
import Testing

/// Files that receive a secret, when an error or a signal interrupts the write.
@Suite(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized)
struct ProcessesFileTests {
  private static let secret = "s e\ncret"
  private let program: ProcessesProgram
  private let folder: String
  private var target: String { folder + "/target" }
  private var template: String { program.folder + "/template" }

  init() throws {
    program = try ProcessesProgram.withStore(["generic:app/db": Self.secret])
    folder = program.folder + "/files"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try Data("{{ keytree://generic-password/app/db }}".utf8).write(to: URL(fileURLWithPath: template))
  }

  /// The commands that write a secret to a file, without the name of the file.
  static let commands = [["get", "generic:app/db", "--out"], ["inject", "-i", "TEMPLATE", "-o"]]

  private func words(_ command: [String], _ more: [String] = []) -> [String] {
    command.map { $0 == "TEMPLATE" ? template : $0 } + [target] + more
  }

  /// Runs a command while strace tampers with one of its system calls.
  private func run(_ words: [String], tampering with: String) throws -> ProcessesProgram.Outcome {
    let strace = try #require(ProcessesTracer.strace)
    let call = with.prefix { $0 != ":" }
    // A shell reports every signal; Foundation reports some as status 0.
    let shell = ["/bin/sh", "-c", "\"$@\"; exit $?", "sh"]
    return try program.run(
      words,
      tracer: shell + [strace, "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(with)"])
  }

  /// Returns the files in the folder, with their content.
  private func files() throws -> [String: String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let contents = try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    return Dictionary(uniqueKeysWithValues: zip(names, contents))
  }

  @Test("a signal during a write leaves nothing behind", arguments: commands)
  func signal(command: [String]) throws {
    for (name, number) in [("SIGTERM", 15), ("SIGINT", 2), ("SIGKILL", 9)] as [(String, Int32)] {
      let outcome = try run(words(command), tampering: "fsync:signal=\(name):when=1")
      #expect(outcome.status == 128 + number, "\(outcome.errors)")
      #expect(try files() == [:])
    }
    #expect(try program.run(words(command)).status == 0)
    #expect(try files() == ["target": Self.secret])
  }

  @Test("a signal during a replacement leaves the old file or the new one, and no other")
  func signalWhileReplacing() throws {
    try Data("old".utf8).write(to: URL(fileURLWithPath: target))
    let replacing = words(Self.commands[1], ["--force"])
    #expect(try run(replacing, tampering: "fsync:signal=SIGTERM:when=1").status == 143)
    #expect(try files() == ["target": "old"])
    #expect(try run(replacing, tampering: "linkat:signal=SIGTERM:when=1").status == 143)
    #expect(try files() == ["target": Self.secret])
  }

  @Test("the files are the same if the file system cannot name an unnamed file")
  func withoutNamelessFiles() throws {
    for (command, more) in [(Self.commands[0], []), (Self.commands[1], ["--force"])] {
      #expect(try run(words(command, more), tampering: "linkat:error=EPERM").status == 0)
      #expect(try files() == ["target": Self.secret])
    }
  }

  @Test("only the owner can read the files, whatever the umask", arguments: ["000", "022", "077"])
  func mode(umask: String) throws {
    let commands = Self.commands.map { words($0) } + [words(Self.commands[1], ["--force"])]
    for words in commands {
      if !words.contains("--force") { try? FileManager.default.removeItem(atPath: target) }
      let shell = ["/bin/sh", "-c", "umask \(umask); exec \"$@\"", "sh", ProcessesProgram.path]
      #expect(try program.run(words: shell + words).status == 0)
      let attributes = try FileManager.default.attributesOfItem(atPath: target)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }
}
