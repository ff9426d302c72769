import Foundation
import TestSupport
import Testing

/// A real SIGKILL at system calls of a synchronization, in keytree and in the git processes that it starts.
///
/// The test samples the system calls; `KEYTREE_EVERY_FAULT=1` tests every one, and `=10` every tenth.
@Suite(
  "Killed while synchronizing",
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct SyncKillTests {
  @Test func `after a kill, the next commands lose no version and make all clones identical`() throws {
    let world = try SyncKillFixture()
    let points = try world.points()
    // Either git is killed alone, which keytree reports, or both processes are killed.
    let all = points.map { ($0, false) } + points.filter { $0.target != .keytree }.map { ($0, true) }
    try #require(all.count > 500)
    let step = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"].flatMap { Int($0) }
    var killed = 0
    for place in stride(from: 0, to: all.count, by: step ?? all.count / 12) {
      let (point, both) = all[place]
      guard try world.kill(at: point, both: both) else { continue }
      killed += 1
      try world.settle("\(point)\(both ? ", and keytree" : "")")
    }
    #expect(killed > 5)
    print("sync killed at \(killed) of \(all.count) points")
  }
}
