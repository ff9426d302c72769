import Foundation
import Glibc
import SecretService
import SessionBus
import Synchronization
import TestSupport
import Testing

@testable import DesktopKeyring

/// The parts of the server that need no bus.
@Suite(.serialized)
struct ServingPartsTests {
  @Test("the store is compared after a quiet moment, and at the latest after two seconds")
  func timer() {
    var timer = ChangeTimer(now: .zero)
    #expect(timer.due == nil)
    timer.changed(at: .seconds(10))
    #expect(timer.due == .seconds(10) + ChangeTimer.quiet)
    let early = timer.take(at: .milliseconds(10_249))
    #expect(!early)
    for tenth in 101...119 { timer.changed(at: .milliseconds(tenth * 100)) }
    #expect(timer.due == .seconds(12))
    let isDue = timer.take(at: .seconds(12))
    #expect(isDue)
    #expect(timer.due == nil)
  }

  @Test("more attributes than a search may have are refused before they are sorted")
  func attributes() throws {
    let pairs = (0...ServiceLimits.pairsPerSearch).map { ("\($0)", "") }
    #expect(try WireValues.attributes(.strings(pairs.dropLast())).count == ServiceLimits.pairsPerSearch)
    #expect(throws: ReplyError.self) { try WireValues.attributes(.strings(pairs)) }
  }

  @Test("without reports of changes the store is compared at intervals")
  func polling() {
    var timer = ChangeTimer(now: .seconds(1))
    timer.isPolling = true
    #expect(timer.due == .seconds(6))
    timer.changed(at: .seconds(2))
    let isDue = timer.take(at: .seconds(3))
    #expect(isDue)
    #expect(timer.due == .seconds(8))
  }

  @Test("a change in a watched folder is reported, even if the folder did not exist before")
  func watch() throws {
    let folder = ScratchFolder()
    let watch = FolderWatch()
    watch.watch([folder.path, folder.path + "/later/deep"])
    #expect(!watch.isIncomplete)
    #expect(!watch.takeChanges())
    try FileManager.default.createDirectory(
      atPath: folder.path + "/later/deep", withIntermediateDirectories: true)
    #expect(watch.takeChanges())
    watch.watch([folder.path, folder.path + "/later/deep"])
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/later/deep/file"))
    #expect(watch.takeChanges())
    #expect(!watch.takeChanges())
    // Folders that are not named again are not watched any more.
    watch.watch([folder.path + "/later/deep"])
    _ = watch.takeChanges()
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/file"))
    #expect(!watch.takeChanges())
  }

  @Test("changes run one after another, reads at the same time, but at most four")
  func lanes() throws {
    let queue = try WorkQueue()
    let counts = Counts()
    let total = 40
    for number in 0..<total {
      let lane: WorkLane = number.isMultiple(of: 2) ? .read : .write
      queue.add(
        number,
        BackgroundWork(lane: lane) {
          counts.begin(lane)
          usleep(2000)
          counts.end(lane)
          return { _ in [] }
        })
    }
    var finished: [Int] = []
    while finished.count < total {
      var request = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(unsafe poll(&request, 1, 10_000) == 1)
      finished += queue.takeFinished().map(\.0)
    }
    #expect(Set(finished).count == total)
    #expect(finished.filter { !$0.isMultiple(of: 2) } == Array(stride(from: 1, to: total, by: 2)))
    #expect(counts.most(.write) == 1)
    #expect(counts.most(.read) <= 4)
  }

  @Test("work for the agent does not wait for other work for the agent")
  func agentLane() throws {
    let queue = try WorkQueue()
    let gate = DispatchSemaphore(value: 0)
    // The first piece waits for the last one.
    for number in 0..<20 {
      queue.add(
        number,
        BackgroundWork(lane: .agent) {
          if number == 19 { for _ in 0..<19 { gate.signal() } } else { gate.wait() }
          return { _ in [] }
        })
    }
    var count = 0
    while count < 20 {
      var request = pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(unsafe poll(&request, 1, 10_000) == 1)
      count += queue.takeFinished().count
    }
  }
}

/// The pieces of work of each class that run at the same time.
private final class Counts: Sendable {
  private let state = Mutex<[WorkLane: (current: Int, most: Int)]>([:])

  func begin(_ lane: WorkLane) {
    state.withLock { state in
      let current = (state[lane]?.current ?? 0) + 1
      state[lane] = (current, max(state[lane]?.most ?? 0, current))
    }
  }

  func end(_ lane: WorkLane) { state.withLock { $0[lane]?.current -= 1 } }

  func most(_ lane: WorkLane) -> Int { state.withLock { $0[lane]?.most ?? 0 } }
}
