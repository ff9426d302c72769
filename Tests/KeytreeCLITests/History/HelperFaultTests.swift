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
  /// The command of each helper that the sample tests.
  private static let sample: [HelperFaultFixture.Helper: HelperFaultFixture.Command] = [
    .gpg: .add, .git: .sync, .agent: .get,
  ]

  @Test(arguments: HelperFaultFixture.Helper.allCases)
  func `a fault in a helper is an error or has no effect, and no machine loses anything`(
    helper: HelperFaultFixture.Helper
  ) throws {
    let world = try HelperFaultFixture()
    let every = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"].flatMap { Int($0) }
    for command in HelperFaultFixture.Command.allCases where every != nil || Self.sample[helper] == command {
      let all = try world.points(of: helper, in: command)
      // Commands that need no secret key only ask the agent if it is there, and reading an item does not use git.
      if every != nil, all.count < 20, helper == .agent || (helper, command) == (.git, .get) { continue }
      try #require(all.count > 20, "\(helper) \(command)")
      var results = HelperFaultFixture.Results()
      let points =
        every.map { step in
          // The agent has far fewer points.
          let step = helper == .agent ? max(1, step / 20) : step
          return stride(from: step / 2, to: all.count, by: step).map { all[$0] }
        }
        ?? Self.sample(of: all)
      for point in points { _ = try world.tryFault(at: point, &results) }
      print("\(helper.rawValue) in \(command.rawValue): \(all.count) points, tried \(results)")
      #expect(results.refused == 0 && results.lost == 0 && results.points > 0)
    }
  }

  /// Returns a full disk where results are written, and an error where answers are read.
  private static func sample(of points: [HelperFaultFixture.Point]) -> [HelperFaultFixture.Point] {
    [("write", HelperFaultFixture.Fault.fullDisk), ("read", .inputOutput)].compactMap { call, fault in
      let found = points.filter { $0.call == call && $0.fault == fault }
      // The first points are in the loader of the program.
      return found.isEmpty ? nil : found[found.count * 9 / 10]
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
