import Foundation
import TestSupport
import Testing

/// An I/O error at system calls of `sync`, in keytree and in the git processes that it starts.
///
/// The test samples the system calls; `keytree-benchmark sync-faults` tests many more.
@Suite(
  "An I/O error while a store is synchronized",
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct SyncErrorTests {
  /// Two clones of one store.
  private struct World {
    let program: ProcessesProgram
    var hub: String { "\(program.folder)/hub.git" }
    var other: String { "\(program.folder)/other" }

    init() throws {
      program = try ProcessesProgram()
      try program.succeed(["init"])
      try program.succeed(["add", "ours.example/alice"], input: "0")
      try program.succeed(["add", "theirs.example/bob"], input: "0")
      try program.git(["init", "-q", "--bare", "-b", "main", hub])
      try program.git(["remote", "add", "origin", hub])
      try program.succeed(["sync"])
      try program.succeed(["clone", hub, other, "--no-input"])
    }

    var heads: Set<String> {
      get throws {
        let words = ["rev-parse", "refs/heads/main"]
        return Set(try [program.store, other, hub].map { try program.git(words, in: $0) })
      }
    }

    /// Synchronizes with an error at one system call.
    ///
    /// - Returns: nil if the command makes fewer calls.
    func sync(failing call: String, _ number: Int, inChildren: Bool) throws -> ProcessesProgram.Outcome? {
      let log = "\(program.folder)/strace.log"
      let strace = try #require(ProcessesTracer.strace)
      let outcome = try program.run(
        ["sync", "--no-input"],
        tracer: [strace] + (inChildren ? ["-f"] : []) + [
          "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):error=EIO:when=\(number)",
        ])
      return try String(contentsOfFile: log, encoding: .utf8).contains("(INJECTED)") ? outcome : nil
    }
  }

  /// A system call, a Boolean value that indicates whether it also fails in child processes, and the step between the
  /// calls that are tested.
  static let calls: [(name: String, inChildren: Bool, stride: Int)] = [
    ("write", false, 3), ("write", true, 5), ("fsync", true, 4), ("rename", true, 2), ("linkat", true, 2),
  ]

  @Test(arguments: calls)
  func `the next sync merges everything, and no error is reported as success`(
    call: (name: String, inChildren: Bool, stride: Int)
  ) throws {
    let world = try World()
    let program = world.program
    var tried = 0
    for number in stride(from: 1, to: 1_000, by: call.stride) {
      let point = "\(call.name) \(number)"
      try program.succeed(["--store", world.other, "set", "theirs.example/bob", "--label", "\(number)"])
      try program.succeed(["--store", world.other, "sync"])
      try program.succeed(["set", "ours.example/alice", "--secret"], input: "\(number)")
      let first = try world.sync(failing: call.name, number, inChildren: call.inChildren)
      if let first, first.status == 0 {
        #expect(try program.git(["status", "--porcelain"]) == "", "\(point) was reported as success")
      }
      let second = try program.run(["sync"])
      #expect(second.status == 0, "\(point): \(second.errors)")
      try program.succeed(["--store", world.other, "sync"])
      #expect(try world.heads.count == 1, "\(point)")
      #expect(try program.run(["--store", world.other, "get", "ours.example/alice"]).text == "\(number)")
      #expect(try program.run(["find", "theirs.example"]).text.contains("\t\(number)\t"), "\(point)")
      for store in [program.store, world.other] {
        #expect(try program.run(["--store", store, "check"]).status == 0, "\(point)")
        #expect(try program.git(["status", "--porcelain"], in: store) == "", "\(point)")
      }
      if first == nil { break }
      tried += 1
    }
    #expect(tried > 0, "the command no longer calls \(call.name)")
  }
}
