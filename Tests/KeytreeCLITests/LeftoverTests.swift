import Foundation
import Glibc
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import KeytreeCLI
@testable import Terminal

/// The files that a SIGKILL leaves behind, and their removal.
@Suite("What a killed command leaves behind", .serialized, .slow)
struct LeftoverTests {
  private func names(_ folder: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder))
  }

  // MARK: Files

  @Test(
    .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)),
    arguments: [
      // The file system does not support unnamed files, and the command is killed before the file is complete.
      (
        ["-e", "inject=linkat:error=EPERM", "-e", "inject=fsync:signal=KILL:when=2"],
        ["get", "h.example/a", "--out"]
      ),
      // The command is killed between writing the temporary file and renaming it.
      (["-e", "inject=rename:signal=KILL"], ["inject", "-i", "template", "--force", "-o"]),
    ])
  func `the same command removes a temporary file that contains part of a secret`(
    tracer: [String], words: [String]
  ) throws {
    let program = try ProcessesProgram.withStore(["h.example/a": "a long secret"])
    let folder = "\(program.folder)/out"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let template = "\(program.folder)/template"
    try Data("{{ keytree://internet-password/h.example/a }}".utf8).write(to: URL(fileURLWithPath: template))
    let strace = try #require(ProcessesTracer.strace)
    let words = words.map { $0 == "template" ? template : $0 } + ["\(folder)/file"]
    let log = "\(program.folder)/strace.log"
    let killed = try program.run(
      words, tracer: [strace, "-f", "-o", log, "-e", "trace=linkat,fsync,rename"] + tracer)
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("killed by SIGKILL"), "\(killed)")
    let left = try names(folder)
    #expect(left.count == 1 && left != ["file"], "\(left)")
    let again = try program.run(words)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try names(folder) == ["file"])
  }

  @Test func `a user's file whose name looks like that of a temporary file is kept`() throws {
    let folder = try TemporaryFolder()
    let files = FileManager.default
    let (part, link) = ("file.keytree-0123456789abcdef", "file.keytree-fedcba9876543210")
    let kept = [
      "file.keytree-", "file.keytree-12", "file.keytree-0123456789abcdeg", "other.keytree-0123456789abcdef",
      "\(part).bak",
    ]
    for name in kept + [part] {
      #expect(files.createFile(atPath: "\(folder.path)/\(name)", contents: Data()))
    }
    try files.createSymbolicLink(atPath: "\(folder.path)/\(link)", withDestinationPath: kept[0])
    try SecretFile(path: "\(folder.path)/file").write(SecretBytes(copying: Array("secret".utf8)))
    #expect(
      try names(folder.path).filter { $0.contains("file") || $0.contains(".keytree-") }
        == Set(kept + ["file", link]))
  }

  @Test(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)))
  func `the same command removes a partial tree of an export`() throws {
    let program = try ProcessesProgram.withStore(["h.example/a": "one", "h.example/b": "two"])
    let folder = "\(program.folder)/out"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let strace = try #require(ProcessesTracer.strace)
    let words = [
      "export", "pass", "\(folder)/tree", "--recipient", GnuPGKey.alice.fingerprint.text, "--accept-loss",
    ]
    let killed = try program.run(
      words,
      tracer: [strace, "-f", "-o", "/dev/null", "-e", "trace=syncfs", "-e", "inject=syncfs:signal=KILL"])
    let left = try names(folder)
    #expect(killed.status != 0 && left.count == 1 && left.first?.hasSuffix(".partial") == true, "\(left)")
    // One tree belongs to a running command, and one to the user.
    try FileManager.default.createDirectory(
      atPath: "\(folder)/tree.mine.partial", withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    let busy = "\(folder)/tree.123456.partial"
    try FileManager.default.createDirectory(
      atPath: busy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let lock = unsafe open(busy, O_RDONLY | O_DIRECTORY)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    let again = try program.run(words)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try names(folder) == ["tree", "tree.mine.partial", "tree.123456.partial"])
  }

  // MARK: The clipboard

  /// Waits for the process that is to clear the clipboard, and kills it.
  private func killClearing(after seconds: Int) throws {
    let waiting = try #require(
      FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.first { process in
        let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
        return line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.suffix(3)
          == ["clear-clipboard", "xclip", String(seconds)]
      })
    #expect(kill(waiting, SIGKILL) == 0)
  }

  private func clipboardLines(_ world: ClipboardFixture) throws -> [String] {
    let outcome = try world.run("doctor")
    return outcome.text.split(separator: "\n").map(String.init).filter { $0.contains("clipboard") }
  }

  @Test func `doctor names a clipboard that was not cleared in time, and the command that clears it`() throws
  {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    let seconds = Int.random(in: 2000...80_000)
    #expect(try world.run("get", "github.com/alice", "--clip=\(seconds)").status == 0)
    #expect(try clipboardLines(world) == [], "the time has not elapsed")
    try killClearing(after: seconds)
    try world.program.setClipboardDeadline(0)
    let lines = try clipboardLines(world)
    #expect(lines.count == 2 && lines[0].hasPrefix("note"), "\(lines)")
    #expect(lines.last?.contains("-> `keytree clear-clipboard`") == true, "\(lines)")
    #expect(world.content == Array("hunter2".utf8))
    let cleared = try world.run("clear-clipboard")
    #expect(cleared.status == 0, "\(cleared.errors)")
    #expect(world.content == [])
    #expect(try clipboardLines(world) == [])
  }

  @Test func `doctor names a clipboard if the command was killed while copying`() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    world.make(.slow)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ProcessesProgram.path)
    process.arguments = ["get", "github.com/alice", "--clip=60"]
    process.environment = world.program.variables.merging(world.variables()) { $1 }
    process.standardError = FileHandle.nullDevice
    try process.run()
    try world.wait(for: "a copy") { world.calls.count == 1 }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try world.wait(for: "the secret") { world.content != nil }
    try world.program.setClipboardDeadline(0)
    #expect(try clipboardLines(world).count == 2)
  }

  @Test func `doctor does not name a clipboard that was cleared in time`() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    #expect(try world.run("get", "github.com/alice", "--clip=1").status == 0)
    try world.wait(for: "an empty clipboard") { world.content == [] }
    try world.wait(for: "the end") { (try? world.program.clipboardTurns()) == [""] }
    #expect(try clipboardLines(world) == [])
    #expect(try world.run("get", "github.com/alice", "--clip=0").status == 0)
    #expect(try clipboardLines(world) == [], "the secret is not to be cleared")
  }

  // MARK: Notes of merge drivers

  @Test func `the next command removes the files of a killed merge driver`() throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["add", "h.example/a"], input: "one")
    let folder = "\(program.store)/.keytree/merged"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    // A file without its note, files that are not renamed yet, and a truncated note.
    for name in ["AAAA.gpg", "AAAA.gpg.new", "BBBB.merge.new"] {
      try Data("{\"base\":".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    try Data("{\"base\":\"".utf8).write(to: URL(fileURLWithPath: "\(folder)/CCCC.merge"))
    try program.succeed(["find"])
    try program.succeed(["add", "h.example/b"], input: "two")
    #expect(try names(folder) == [])
  }

  @Test func `doctor names notes of pending merges`() throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["add", "h.example/a"], input: "one")
    let folder = "\(program.store)/.keytree/merged"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    // A newer version may write such a note.
    try Data("{\"kind\":\"new\"}".utf8).write(to: URL(fileURLWithPath: "\(folder)/CCCC.merge"))
    let doctor = try program.run(["doctor"])
    #expect(doctor.text.contains("CCCC.merge"), "\(doctor.text)")
    #expect(try names(folder) == ["CCCC.merge"], "a note with an unknown format is kept")
  }
}

extension ProcessesProgram {
  /// Returns the content of the files about pending clearing.
  fileprivate func clipboardTurns() throws -> [String] {
    let base = "\(folder)/run/keytree"
    return try FileManager.default.contentsOfDirectory(atPath: base).filter { $0.hasPrefix("clipboard-") }
      .map { try String(contentsOfFile: "\(base)/\($0)", encoding: .utf8) }
  }

  /// Sets the time at which the clipboard was to be cleared, in seconds since 1970.
  fileprivate func setClipboardDeadline(_ time: Int) throws {
    let base = "\(folder)/run/keytree"
    for name in try FileManager.default.contentsOfDirectory(atPath: base) where name.hasPrefix("clipboard-") {
      let turn = try String(contentsOfFile: "\(base)/\(name)", encoding: .utf8).prefix(32)
      try Data("\(turn) \(time)".utf8).write(to: URL(fileURLWithPath: "\(base)/\(name)"))
    }
  }
}
