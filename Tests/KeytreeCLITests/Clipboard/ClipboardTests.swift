import Foundation
import Glibc
import TestSupport
import Testing

@testable import KeytreeCLI

@Suite("A secret in the clipboard", .serialized, .slow, .waits)
struct ClipboardTests {
  /// The session and the programs for one kind of clipboard, with the calls that copy, read and clear.
  struct Way: Sendable, CustomTestStringConvertible {
    var programs: [String]
    var session: [String: String]
    var copying: [String]
    var looking: String
    var clearing: String
    var testDescription: String { programs[0] }
  }

  static let ways = [
    Way(
      programs: ["wl-copy", "wl-paste"], session: ["WAYLAND_DISPLAY": "wayland-7"],
      copying: ["wl-copy --help", "wl-copy --sensitive --type text/plain"],
      looking: "wl-paste --no-newline --type text/plain", clearing: "wl-copy --clear"),
    Way(
      programs: ["xclip"], session: ["DISPLAY": ":77"], copying: ["xclip -selection clipboard -in"],
      looking: "xclip -selection clipboard -out -target UTF8_STRING",
      clearing: "xclip -selection clipboard -in"),
    Way(
      programs: ["xsel"], session: ["DISPLAY": ":77"], copying: ["xsel --clipboard --input"],
      looking: "xsel --clipboard --output", clearing: "xsel --clipboard --clear"),
    Way(
      programs: ["clip.exe", "powershell.exe"], session: ["WSL_DISTRO_NAME": "Debian"], copying: ["clip.exe"],
      looking: "powershell.exe -NoProfile", clearing: "clip.exe"),
  ]

  @Test("a secret is copied through standard input only, and cleared after its time", arguments: ways)
  func cleared(way: Way) throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2\n"], programs: way.programs)
    let outcome = try world.run("get", "github.com/alice", "--clip=1", session: way.session)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
    #expect(
      outcome.errors
        == "Copied the secret of github.com/alice to the clipboard; it is "
        + "cleared in 1 second.\n")
    #expect(Array(world.calls.prefix(way.copying.count)) == way.copying)
    try world.wait(for: "an empty clipboard") { world.content == [] }
    let rest = Array(world.calls.dropFirst(way.copying.count))
    #expect(rest.count == 2 && rest[0].hasPrefix(way.looking) && rest[1] == way.clearing, "\(rest)")
    #expect(!world.calls.contains { $0.contains("hunter2") })
    #expect(world.temporaryFolders == [""])
  }

  @Test(
    "a secret is cleared even if a signal arrives while it is being copied",
    arguments: [SIGTERM, SIGINT, SIGHUP])
  func interruptedCopying(signal: Int32) throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    world.make(.slow)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ProcessesProgram.path)
    process.arguments = ["get", "github.com/alice", "--clip=1"]
    process.environment = world.program.variables.merging(world.variables()) { $1 }
    process.standardError = FileHandle.nullDevice
    try process.run()
    try world.wait(for: "a copy") { world.calls.count == 1 }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 128 + signal)
    try world.wait(for: "the secret") { world.content != nil }
    try world.wait(for: "an empty clipboard") { world.content == [] }
  }

  @Test("a secret is cleared even if the first read of the clipboard fails", arguments: ways)
  func failingLook(way: Way) throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: way.programs)
    world.make(.failure)
    #expect(try world.run("get", "github.com/alice", "--clip=1", session: way.session).status == 0)
    try world.wait(for: "an empty clipboard") { world.content == [] }
    #expect(world.calls.filter { $0.hasPrefix(way.looking) }.count == 2)
  }

  @Test("a secret is cleared even if the content of the clipboard cannot be read", arguments: ways)
  func blind(way: Way) throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: way.programs)
    world.setKinds("text/plain;charset=utf-8\nUTF8_STRING\n")
    #expect(try world.run("get", "github.com/alice", "--clip=1", session: way.session).status == 0)
    world.removeContent()
    try world.wait(for: "an empty clipboard") { world.content == [] }
    #expect(world.calls.filter { $0.hasPrefix(way.looking) }.count == 3)
  }

  @Test("a picture that replaced the secret stays in the clipboard", arguments: ways.prefix(2))
  func picture(way: Way) throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: way.programs)
    #expect(try world.run("get", "github.com/alice", "--clip=1", session: way.session).status == 0)
    world.removeContent()
    world.setKinds("TARGETS\nimage/png\n")
    let before = way.copying.count
    try world.wait(for: "two reads of the clipboard") { world.calls.count == before + 2 }
    usleep(1_500_000)
    #expect(world.calls.count == before + 2 && world.content == nil)
  }

  @Test("text that replaced the secret stays in the clipboard")
  func changed() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    #expect(try world.run("get", "github.com/alice", "--clip=1").status == 0)
    #expect(world.content == Array("hunter2".utf8))
    world.content = Array("something else".utf8)
    try world.wait(for: "a read of the clipboard") { world.calls.count == 2 }
    usleep(300_000)
    #expect(world.calls.count == 2)
    #expect(world.content == Array("something else".utf8))
  }

  @Test("the timer of an earlier copy does not clear a later one")
  func twice() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    #expect(try world.run("get", "github.com/alice", "--clip=1").status == 0)
    #expect(try world.run("get", "github.com/alice", "--clip=60").status == 0)
    // The end of the first timer has no visible effect, so the test waits longer than the timer runs.
    usleep(1_800_000)
    #expect(world.calls.count == 2)
    #expect(world.content == Array("hunter2".utf8))
    // Each of two sessions has its own timer.
    #expect(try world.run("get", "github.com/alice", "--clip=1", session: ["DISPLAY": ":78"]).status == 0)
    try world.wait(for: "an empty clipboard") { world.content == [] }
  }

  @Test(
    "the process that clears the clipboard holds none of the caller's descriptors, so a reader of the output is not blocked"
  )
  func detached() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    let start = ContinuousClock.now
    let seconds = Int.random(in: 2000...80_000)
    // `run` reads both streams to the end.
    let outcome = try world.run("get", "github.com/alice", "--clip=\(seconds)", "--quiet")
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
    #expect(ContinuousClock.now - start < .seconds(1000))
    let waiting = try #require(try Self.waiting(seconds))
    defer { kill(waiting, SIGTERM) }
    #expect(getsid(waiting) == waiting)
    // Only root can list the descriptors of this process.
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(waiting)/fd")
    for descriptor in descriptors ?? [] {
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(waiting)/fd/\(descriptor)")
      // The pipe is the process's standard input, whose write end is closed.
      let isHarmless =
        target == nil || target == "/dev/null" || (target?.hasPrefix("pipe:") == true && descriptor == "0")
      #expect(isHarmless, "\(descriptor): \(target ?? "")")
    }
  }

  /// The process that waits this many seconds before it clears the clipboard.
  private static func waiting(_ seconds: Int) throws -> pid_t? {
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      guard let process = pid_t(name),
        let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline"),
        String(decoding: words, as: UTF8.self).hasSuffix("clear-clipboard\0xclip\0\(seconds)\0")
      else { continue }
      return process
    }
    return nil
  }

  @Test("a secret that is not ASCII is passed to Windows as UTF-16")
  func windows() throws {
    let world = try ClipboardFixture(["github.com/alice": "é😀"], programs: ["clip.exe", "powershell.exe"])
    let session = ["WSL_DISTRO_NAME": "Debian"]
    #expect(try world.run("get", "github.com/alice", "--clip=0", session: session).status == 0)
    #expect(world.content == [0xFF, 0xFE, 0xE9, 0, 0x3D, 0xD8, 0, 0xDE])
    // PowerShell prints UTF-8, here with a byte order mark.
    #expect(try world.run("get", "github.com/alice", "--clip=1", session: session).status == 0)
    world.content = [0xEF, 0xBB, 0xBF] + Array("é😀".utf8)
    try world.wait(for: "an empty clipboard") { world.content == [] }
  }

  @Test("a secret is cleared without a check if Windows has no PowerShell")
  func blindWindows() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: ["clip.exe"])
    let session = ["WSL_DISTRO_NAME": "Debian"]
    #expect(try world.run("get", "github.com/alice", "--clip=1", session: session).status == 0)
    try world.wait(for: "an empty clipboard") { world.content == [] }
  }

  @Test("a secret of up to 64 KiB is copied byte for byte", arguments: [65_536, 65_537])
  func large(size: Int) throws {
    let secret = String(repeating: "x", count: size - 1) + "\n"
    let world = try ClipboardFixture([:])
    try world.program.succeed(["add", "github.com/alice"], input: secret)
    let outcome = try world.run("get", "github.com/alice", "--clip=0")
    #expect((outcome.status == 0) == (size == 65_536))
    #expect(world.content == (size == 65_536 ? Array(secret.utf8) : nil))
    if outcome.status != 0 { #expect(outcome.errors.contains("longer than 65536 bytes")) }
  }

  @Test("a clipboard program that hangs is given up after a time limit")
  func hanging() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"])
    try ExecutableFile.write("#!/bin/sh\nexec sleep 1000\n", to: "\(world.program.folder)/bin/xclip")
    let outcome = try world.run("get", "github.com/alice", "--clip")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("xclip did not finish in time in the session \":77\""))
  }

  @Test(
    "the secret appears in no argument and no file of a process",
    .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)))
  func traced() throws {
    let world = try ClipboardFixture(["github.com/alice": "MARKER-hunter2"])
    let log = "\(world.program.folder)/trace"
    let strace = try #require(ProcessesTracer.strace)
    let outcome = try world.run(
      "get", "github.com/alice", "--clip=1",
      tracer: [strace, "-f", "-v", "-s", "65536", "-e", "trace=execve,openat,creat,memfd_create", "-o", log])
    #expect(outcome.status == 0)
    let trace = try String(contentsOfFile: log, encoding: .utf8)
    #expect(trace.contains("clear-clipboard"))
    #expect(!trace.contains("MARKER"))
  }

  @Test("OSC 52 copies the secret to the terminal's clipboard, and Enter clears it")
  func terminal() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: [])
    let terminal = try PseudoTerminal(
      ["get", "github.com/alice", "--clip", "--osc52"], variables: world.program.variables)
    try terminal.wait(for: "\u{1B}]52;c;aHVudGVyMg==\u{07}")
    try terminal.wait(for: "press Enter to clear it now.")
    terminal.type("\r")
    try terminal.wait(for: "\u{1B}]52;c;IA==\u{07}\u{1B}]52;c;\u{07}")
    #expect(terminal.finish().code == 0)
  }

  @Test(
    "a signal that ends the wait clears the terminal's clipboard",
    arguments: [(SIGINT, 0), (SIGTERM, 143)] as [(Int32, Int32)])
  func interrupted(signal: Int32, status: Int32) throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: [])
    let terminal = try PseudoTerminal(
      ["get", "github.com/alice", "--clip", "--osc52", "--no-input"],
      variables: world.program.variables)
    try terminal.wait(for: "seconds.")
    terminal.end(by: signal)
    try terminal.wait(for: "\u{1B}]52;c;\u{07}")
    #expect(terminal.finish().code == status)
  }

  @Test("OSC 52 requires a terminal")
  func noTerminal() throws {
    let world = try ClipboardFixture(["github.com/alice": "hunter2"], programs: [])
    let outcome = try world.run(
      "get", "github.com/alice", "--clip", "--osc52", tracer: ["/usr/bin/setsid", "-w"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("this process has no terminal"))
  }
}
