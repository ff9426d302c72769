import Foundation
import Glibc
import TestSupport
import Testing

@testable import Subprocess

/// Tests what a program gets at its start, and the errors of a failed start.
@Suite(.serialized) struct StartTests {
  @Test func `arguments may contain every byte except NUL`() throws {
    let arguments: [[UInt8]] = [[], Array(1...255), [], [0x2D], Array("--version".utf8), [0xFF, 0x0A]]
    let run = ProgramRun("/usr/bin/printf", [Array("%s\\0".utf8)] + arguments, environment: plain)
    #expect(try run.run().output == Array(arguments.map { $0 + [0] }.joined()))
  }

  @Test func `the program is called by its path`() throws {
    var run = ProgramRun("/bin/cat", ["/proc/self/cmdline"], environment: plain)
    run.input = .none
    #expect(try run.run().text == "/bin/cat\0/proc/self/cmdline\0")
  }

  @Test(arguments: [
    [], ["A=1"], ["B=", "A= 2 ", "LONG=" + String(repeating: "x", count: 100_000)],
    ["ODD=\u{1}\u{7F}\n=\u{E9}"],
  ])
  func `the environment is exactly the one that was passed`(variables: [String]) throws {
    // Make sure that there is something to inherit.
    #expect(ProcessInfo.processInfo.environment["PATH"] != nil)
    let environment = ProcessEnvironment(entries: variables.map { Array($0.utf8) })
    let outcome = try ProgramRun("/usr/bin/env", ["-0"], environment: environment).run()
    #expect(outcome.text == (variables + ["LC_ALL=C"]).map { $0 + "\0" }.joined())
  }

  @Test func `a program starts in the given folder`() throws {
    let folder = ScratchFolder()
    let name = "a \u{E9}\n$HOME"
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false)
    var run = ProgramRun("/bin/pwd", ["-P"], environment: plain)
    #expect(try run.run().text == FileManager.default.currentDirectoryPath + "\n")
    run.folder = "\(folder.path)/\(name)"
    #expect(try run.run().text == "\(folder.path)/\(name)\n")
  }

  @Test func `a program gets the three standard streams and no other descriptor`() throws {
    let listed = try OwnDescriptors.run {
      // These descriptors are inheritable, and still must not be inherited.
      for number: Int32 in [3, 5, 77, 500] { dup2(0, number) }
      var run = ProgramRun("/bin/ls", ["/proc/self/fd"], environment: plain)
      run.input = .bytes([1])
      return try run.run().text
    }
    // The fourth is the folder that ls reads.
    #expect(listed == "0\n1\n2\n3\n")
  }

  @Test func `signals are neither blocked nor ignored, except those of the terminal`() throws {
    let facts = try withIgnored([SIGHUP, SIGWINCH, SIGUSR2]) {
      try OwnDescriptors.run {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
        return try ProgramRun("/bin/grep", ["-E", "^Sig(Blk|Ign)", "/proc/self/status"], environment: plain)
          .run().text
      }
    }
    let masks = facts.split { $0.isWhitespace }.compactMap { UInt64($0, radix: 16) }
    // Signals 32 and 33 belong to glibc and are ignored in every child of posix_spawn(3).
    #expect(masks.map { $0 & ~(3 << 31) } == [0, 1 << (UInt64(SIGHUP) - 1)])
  }

  private func withIgnored<R>(_ signals: [Int32], _ body: () throws -> R) rethrows -> R {
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    var ignored = sigaction()
    unsafe ignored.__sigaction_handler.sa_handler = SIG_IGN
    var before = signals.map { _ in sigaction() }
    for (index, signal) in signals.enumerated() { unsafe sigaction(signal, &ignored, &before[index]) }
    defer {
      for (index, signal) in signals.enumerated() { unsafe sigaction(signal, &before[index], nil) }
    }
    return try body()
  }

  @Test func `the process group is new or that of this process`() throws {
    var run = ProgramRun("/bin/cut", ["-d ", "-f1,5", "/proc/self/stat"], environment: plain)
    let own = try run.run().text.split { $0 == " " || $0 == "\n" }
    #expect(own.count == 2 && own.first == own.last)
    run.group = .shared
    #expect(try run.run().text.hasSuffix(" \(getpgrp())\n"))
  }

  /// Files that cannot be run, by their defect.
  enum Unusable: CaseIterable, Sendable {
    case missing, relative, empty, belowFile, folder, notExecutable, format, interpreter, loop

    func make(in folder: String) throws -> (String, ProcessError) {
      let path = "\(folder)/program"
      func file(_ text: String, mode: Int) throws {
        try ExecutableFile.write(text, to: path, mode: mode)
      }
      func failure(_ errno: Int32) -> (String, ProcessError) {
        (path, .notExecutable(program: path, errno: errno))
      }
      switch self {
      case .missing: return (path, .notFound(program: path))
      case .relative: return ("bin/cat", .notFound(program: "bin/cat"))
      case .empty: return ("", .notFound(program: ""))
      case .belowFile: return ("/bin/cat/x", .notFound(program: "/bin/cat/x"))
      case .folder: return (folder, .notExecutable(program: folder, errno: EACCES))
      case .notExecutable:
        try file("#!/bin/sh\n", mode: 0o600)
        return failure(EACCES)
      case .format:
        try file("echo 1\n", mode: 0o700)
        return failure(ENOEXEC)
      case .interpreter:
        try file("#!/nonexistent/sh\n", mode: 0o700)
        return failure(ENOENT)
      case .loop:
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        return failure(ELOOP)
      }
    }
  }

  @Test(arguments: Unusable.allCases)
  func `a program that cannot be run is reported with the reason`(kind: Unusable) throws {
    let folder = ScratchFolder()
    let (path, error) = try kind.make(in: folder.path)
    var run = ProgramRun(path, ["x"], environment: plain)
    #expect(throws: error) { try run.run() }
    run.folder = "/"
    #expect(throws: error) { try run.run() }
  }

  @Test(arguments: [("/nonexistent", ENOENT), ("/bin/cat", ENOTDIR), ("", ENOENT)])
  func `a folder that cannot be entered is reported as such`(folder: String, errno: Int32) throws {
    var run = ProgramRun("/bin/cat", [String](), environment: plain)
    run.folder = folder
    #expect(throws: ProcessError.systemCall(action: "enter", path: folder, errno: errno)) { try run.run() }
  }

  @Test func `a NUL byte is refused everywhere`() throws {
    func refuses(_ run: ProgramRun) -> Bool {
      do throws(ProcessError) {
        _ = try run.run()
        return false
      } catch {
        return error == .containsNUL(program: run.program)
      }
    }
    #expect(refuses(ProgramRun("/bin/cat\0", [String](), environment: plain)))
    #expect(refuses(ProgramRun("/bin/cat", ["a\0b"], environment: plain)))
    #expect(refuses(ProgramRun("/bin/cat", [String](), environment: ProcessEnvironment(["A": "\0"]))))
    var run = ProgramRun("/bin/cat", [String](), environment: plain)
    run.folder = "/\0"
    #expect(refuses(run))
  }

  @Test func `an argument that is longer than the system accepts is an error`() throws {
    let arguments = [String(repeating: "x", count: 200_000)]
    #expect(throws: ProcessError.systemCall(action: "start", path: "/bin/true", errno: E2BIG)) {
      try ProgramRun("/bin/true", arguments, environment: plain).run()
    }
  }
}
