import Foundation
import Synchronization
import TestSupport
import Testing

/// Several processes that use one store concurrently. `keytree-benchmark processes` does the same and measures it.
@Suite(.serialized, .slow) struct ProcessesAtOnceTests {
  @Test func `eight processes that each add fifty items leave four hundred items`() throws {
    let program = try ProcessesProgram.withStore()
    try ThreadGroup.run(8) { member in
      for round in 0..<50 {
        try program.succeed(["add", "host-\(member)-\(round).example/alice"], input: "\(member)-\(round)")
      }
    }
    #expect(try program.succeed(["find"]).split(separator: "\n").count == 400)
    for (member, round) in [(0, 0), (3, 49), (7, 25)] {
      let secret = try program.succeed(["get", "host-\(member)-\(round).example/alice"])
      #expect(secret == "\(member)-\(round)")
    }
    try expectClean(program)
  }

  @Test func `the last of eight processes that update one item wins, without a torn write`() throws {
    let program = try ProcessesProgram.withStore(["shared.example/alice": "first"])
    let statuses = Mutex<[Int32]>([])
    try ThreadGroup.run(8) { member in
      for round in 0..<25 {
        let outcome = try program.run(
          ["set", "shared.example/alice", "--secret"], input: "secret \(member)-\(round)")
        statuses.withLock { $0.append(outcome.status) }
      }
    }
    // No process waits so long that it reports the store as busy.
    #expect(statuses.withLock { $0 } == Array(repeating: 0, count: 200))
    // The last writer wrote nothing after its own last secret.
    let secret = try program.succeed(["get", "shared.example/alice"])
    #expect((0..<8).map { "secret \($0)-24" }.contains(secret))
    try expectClean(program)
  }

  private func expectClean(_ program: ProcessesProgram) throws {
    let check = try program.run(["check", "--decrypt"])
    #expect(check.status == 0, "\(check.text)\(check.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(program.store)/.keytree") == ["lock"])
  }
}
