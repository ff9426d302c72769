import Foundation
import TestSupport
import Testing

/// A real SIGKILL at system calls of `init`, in keytree and in the git processes that it starts.
///
/// The test samples the system calls; `KEYTREE_EVERY_FAULT=1` tests every one.
@Suite(
  "Killed while a store is made",
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct InitKillTests {
  /// A system call, and the step between the calls that are tested.
  static let calls: [(name: String, stride: Int)] = [
    ("mkdir", 5), ("mkdirat", 3), ("renameat", 3), ("rename", 2), ("fsync", 5), ("unlink", 2),
    ("unlinkat", 3),
    ("write", 5), ("execve", 1), ("openat", 50),
  ]

  @Test(arguments: calls)
  func `after a kill of init, the next commands make a store whose history can be cloned`(
    call: (name: String, stride: Int)
  ) throws {
    let everyPoint = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"] != nil
    let program = try ProcessesProgram()
    var tried = 0
    for number in stride(from: 1, to: 1_000, by: everyPoint ? 1 : call.stride) {
      let point = "\(call.name) \(number)"
      try? FileManager.default.removeItem(atPath: program.store)
      guard try kill(program, at: number, of: call.name) else { break }
      tried += 1
      // Either there is no store, and `init` makes one, or there is a usable one.
      if try program.run(["status"]).status == 4 {
        let made = try program.run(["init"])
        #expect(made.status == 0, "\(point): \(made.errors)")
      }
      let added = try program.run(["add", "a.example/alice"], input: "s")
      #expect(added.status == 0, "\(point): \(added.errors)")
      let clone = "\(program.folder)/clone"
      try? FileManager.default.removeItem(atPath: clone)
      let cloned = try program.run(["clone", "\(program.store)", clone, "--no-input"])
      #expect(cloned.errors.contains("Cloned the store"), "\(point): \(cloned.errors)")
      #expect(try program.run(["--store", clone, "get", "a.example/alice"]).text == "s", "\(point)")
      #expect(try program.run(["check"]).status == 0, "\(point)")
      #expect(try program.git(["status", "--porcelain"]) == "", "\(point)")
    }
    #expect(tried > 0, "the command no longer calls \(call.name)")
  }

  /// Returns true if the call happened, so that a process was killed.
  private func kill(_ program: ProcessesProgram, at number: Int, of call: String) throws -> Bool {
    let log = "\(program.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    _ = try program.run(
      ["init"],
      tracer: [
        strace, "-f", "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)",
      ])
    return try String(contentsOfFile: log, encoding: .utf8).contains("killed by SIGKILL")
  }
}
