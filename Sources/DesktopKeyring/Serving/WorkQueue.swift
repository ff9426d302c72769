internal import CSystem
internal import Glibc
internal import Synchronization

/// Runs work on other threads, each class of work on its own, and reports its end through a descriptor.
final class WorkQueue: Sendable {
  /// The number of a piece of work.
  typealias Ticket = Int

  private struct State {
    var waiting: [WorkLane: [(Ticket, BackgroundWork)]] = [:]
    /// The threads, and those of them that have taken a piece of work.
    var running: [WorkLane: Int] = [:]
    var busy: [WorkLane: Int] = [:]
    var finished: [(Ticket, BackgroundWork.Completion)] = []
  }

  private let state = Mutex(State())
  /// The descriptor that becomes readable when work has finished.
  let descriptor: Int32
  private let writeEnd: Int32

  /// An error of the system that left the queue without descriptors.
  struct Unavailable: Error { let errno: Int32 }

  init() throws(Unavailable) {
    var ends: [Int32] = [-1, -1]
    guard unsafe keytree_pipe(&ends) == 0 else { throw Unavailable(errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (descriptor, writeEnd) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Adds work, which begins when a thread of its class is free.
  func add(_ ticket: Ticket, _ work: BackgroundWork) {
    state.withLock { $0.waiting[work.lane, default: []].append((ticket, work)) }
    startThreads()
  }

  /// Starts the threads that are missing. A thread that cannot be created is tried again by the next call.
  func startThreads() {
    for lane in WorkLane.allCases {
      while isThreadMissing(lane) {
        guard start(lane) else {
          state.withLock { $0.running[lane, default: 0] -= 1 }
          break
        }
      }
    }
  }

  /// Returns the work that has finished since the last call.
  func takeFinished() -> [(Ticket, BackgroundWork.Completion)] {
    var bytes = [UInt8](repeating: 0, count: 256)
    while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    return state.withLock { state in
      defer { state.finished = [] }
      return state.finished
    }
  }

  /// True while work of a class is waiting or running.
  func isBusy(_ lane: WorkLane) -> Bool { state.withLock { $0.running[lane, default: 0] > 0 } }

  /// Counts a new thread in if work is waiting and another thread is allowed. A thread that finds no work ends.
  private func isThreadMissing(_ lane: WorkLane) -> Bool {
    state.withLock { state in
      let (waiting, running) = (state.waiting[lane, default: []].count, state.running[lane, default: 0])
      guard waiting > 0, running < lane.threads, running - state.busy[lane, default: 0] < waiting else {
        return false
      }
      state.running[lane] = running + 1
      return true
    }
  }

  private func start(_ lane: WorkLane) -> Bool {
    let context = unsafe Unmanaged.passRetained(Thread(queue: self, lane: lane)).toOpaque()
    let status = unsafe keytree_in_background(
      { context in
        guard let context = unsafe context else { return nil }
        let thread = unsafe Unmanaged<Thread>.fromOpaque(context).takeRetainedValue()
        thread.queue.work(thread.lane)
        return nil
      }, context)
    if status != 0 { unsafe Unmanaged<Thread>.fromOpaque(context).release() }
    return status == 0
  }

  private func work(_ lane: WorkLane) {
    while let (ticket, work) = next(lane) {
      let completion = work.run()
      state.withLock { state in
        state.finished.append((ticket, completion))
        state.busy[lane, default: 0] -= 1
      }
      var byte: UInt8 = 0
      // Fails only if the pipe is full, and then its reader will look anyway.
      _ = unsafe write(writeEnd, &byte, 1)
    }
  }

  /// Returns the next piece of work; nil, after counting the thread out, if there is none.
  private func next(_ lane: WorkLane) -> (Ticket, BackgroundWork)? {
    state.withLock { state in
      guard var waiting = state.waiting[lane], !waiting.isEmpty else {
        state.running[lane, default: 0] -= 1
        return nil
      }
      let first = waiting.removeFirst()
      state.waiting[lane] = waiting
      state.busy[lane, default: 0] += 1
      return first
    }
  }

  /// The context of a thread.
  private final class Thread: Sendable {
    let queue: WorkQueue
    let lane: WorkLane

    init(queue: WorkQueue, lane: WorkLane) { (self.queue, self.lane) = (queue, lane) }
  }
}
