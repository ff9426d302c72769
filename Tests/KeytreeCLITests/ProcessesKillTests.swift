import Foundation
import TestSupport
import Testing

/// A real SIGKILL at system calls of the command.
///
/// The test samples the system calls; `KEYTREE_EVERY_FAULT=1` tests every one. `keytree-benchmark kill-sweep` does the
/// same for more commands, and also kills the programs that the command starts.
@Suite(
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct ProcessesKillTests {
  /// A change, with the states that are valid after it was interrupted.
  enum Change: CaseIterable {
    case add, setSecret

    var arguments: [String] {
      switch self {
      case .add: ["add", "new.example/alice"]
      case .setSecret: ["set", "old.example/alice", "--secret"]
      }
    }
  }

  /// A system call, and the step between the calls that are tested.
  static let calls: [(name: String, stride: Int)] = [
    ("mkdirat", 1), ("pwrite64", 2), ("fsync", 3), ("renameat", 1), ("unlinkat", 1), ("openat", 17),
  ]

  @Test(
    "after a kill at any system call, each item is its old or its new version, and the store is valid",
    arguments: Change.allCases, calls)
  func killed(_ change: Change, _ call: (name: String, stride: Int)) throws {
    let template = try ProcessesProgram.withStore([
      "old.example/alice": "old secret", "other.example/bob": "other secret",
    ])
    let everyPoint = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"] != nil
    var tried = 0
    for number in stride(from: 1, to: 10_000, by: everyPoint ? 1 : call.stride) {
      try restore(template)
      guard try kill(template, change, at: number, of: call.name) else { break }
      tried += 1
      try look(at: template, after: change, point: "\(call.name) \(number)")
    }
    #expect(tried > 0, "the command no longer calls \(call.name)")
  }

  /// Restores the store to its state at the first call of this function.
  private func restore(_ program: ProcessesProgram) throws {
    let (manager, copy) = (FileManager.default, "\(program.folder)/copy")
    if !manager.fileExists(atPath: copy) {
      try manager.copyItem(atPath: program.store, toPath: copy)
    } else {
      try manager.removeItem(atPath: program.store)
      try manager.copyItem(atPath: copy, toPath: program.store)
    }
  }

  /// Returns true if the call happened, so that the process was killed.
  private func kill(
    _ program: ProcessesProgram, _ change: Change, at number: Int, of call: String
  ) throws -> Bool {
    let log = "\(program.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    _ = try program.run(
      change.arguments, input: "new secret",
      tracer: [
        strace, "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)",
      ])
    return try String(contentsOfFile: log, encoding: .utf8).contains("killed by SIGKILL")
  }

  private func look(at program: ProcessesProgram, after change: Change, point: String) throws {
    let other = try program.run(["get", "other.example/bob"])
    #expect(other.text == "other secret", "\(point): \(other.errors)")
    switch change {
    case .add:
      let item = try program.run(["get", "new.example/alice"])
      let isOld = item.status == 4 && item.text.isEmpty
      let isNew = item.status == 0 && item.text == "new secret"
      #expect(isOld || isNew, "\(point): \(item)")
    case .setSecret:
      let item = try program.run(["get", "old.example/alice"])
      #expect(["old secret", "new secret"].contains(item.text), "\(point): \(item)")
    }
    let check = try program.run(["check", "--decrypt"])
    #expect(check.status == 0, "\(point): \(check.text)\(check.errors)")
  }
}
