import Foundation
import TestSupport
import Testing

/// A real SIGKILL at system calls of the command.
///
/// A sample of the points; `KEYTREE_EVERY_FAULT=1` tries every one, as does `keytree-benchmark kill-sweep` for
/// more commands and with the programs that the command starts as targets, too.
@Suite(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)))
struct ProcessesKillTests {
  /// A change, and what may be there after it was cut off.
  enum Change: CaseIterable {
    case add, setSecret

    var arguments: [String] {
      switch self {
      case .add: ["add", "new.example/alice"]
      case .setSecret: ["set", "old.example/alice", "--secret"]
      }
    }
  }

  /// A system call, and how many of its points lie between two that are tried.
  static let calls: [(name: String, stride: Int)] = [
    ("mkdirat", 1), ("pwrite64", 2), ("fsync", 3), ("renameat", 1), ("unlinkat", 1), ("openat", 17),
  ]

  @Test(
    "after a kill at a system call every item is its old or its new version and the store checks clean",
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
    #expect(tried > 0, "no \(call.name) was met: the command works in another way now")
  }

  /// Puts the store back to what it was when this was called first.
  private func restore(_ program: ProcessesProgram) throws {
    let (manager, copy) = (FileManager.default, "\(program.folder)/copy")
    if !manager.fileExists(atPath: copy) {
      try manager.copyItem(atPath: program.store, toPath: copy)
    } else {
      try manager.removeItem(atPath: program.store)
      try manager.copyItem(atPath: copy, toPath: program.store)
    }
  }

  /// Whether there was such a call, so that something was killed.
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
