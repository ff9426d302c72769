internal import CSystem
internal import Glibc
internal import Synchronization

/// The last answer of the agent about whether it has the passphrases of the user's keys.
///
/// The agent is asked on another thread, so that an agent that does not answer delays the service only briefly. An agent
/// that does not answer counts as locked.
final class AgentState {
  /// The time for which an answer is used.
  static let lifetime = Duration.milliseconds(500)
  private let agent: any KeyAgent
  private let clock: @Sendable () -> Duration
  private let patience: Duration
  private var known: (isLocked: Bool, until: Duration)?
  private var pending: Pending?

  /// A question whose answer was not used yet.
  private struct Pending {
    let question: Question
    let asked: Duration
    /// True if it was not answered in time. It is not waited for again.
    var isAbandoned = false
  }

  /// - Parameters:
  ///   - agent: The user's keys.
  ///   - clock: The time that has passed since a fixed moment.
  ///   - patience: The longest time to wait for an answer.
  init(
    _ agent: any KeyAgent, clock: @escaping @Sendable () -> Duration, patience: Duration
  ) {
    (self.agent, self.clock, self.patience) = (agent, clock, patience)
  }

  /// Returns true if the agent would have to ask the user for a passphrase, or does not answer.
  func isLocked() -> Bool {
    if let known, clock() < known.until { return known.isLocked }
    let now = clock()
    if let last = pending {
      let isAnswered = last.question.answer(within: .zero) != nil
      if last.isAbandoned, !isAnswered { return true }
      // An old answer may be outdated.
      if last.isAbandoned || isAnswered && last.asked + Self.lifetime <= now { pending = nil }
    }
    var current = pending ?? Pending(question: Question(agent), asked: now)
    guard let answer = current.question.answer(within: patience) else {
      current.isAbandoned = true
      pending = current
      return true
    }
    pending = nil
    known = (answer, now + Self.lifetime)
    return answer
  }

  /// Makes the next call ask the agent, because something has changed.
  func invalidate() {
    known = nil
    if let last = pending, !last.isAbandoned { pending = nil }
  }

  /// Starts to ask the agent, without waiting for the answer. The first question takes longer than the others.
  func prepare() { if pending == nil { pending = Pending(question: Question(agent), asked: clock()) } }

  /// One question to the agent.
  private final class Question: Sendable {
    private let result = Mutex<Bool?>(nil)
    private let done = Signal()

    init(_ agent: any KeyAgent) {
      BackgroundThread.run { [self] in
        // Using a key reports the reason why the agent cannot be asked.
        let isLocked = (try? !agent.isUnlocked()) ?? true
        result.withLock { $0 = isLocked }
        done.set()
      }
    }

    /// Returns true if the agent is locked; nil if there is no answer in time.
    func answer(within time: Duration) -> Bool? {
      if let known = result.withLock({ $0 }) { return known }
      done.wait(for: time)
      return result.withLock { $0 }
    }
  }
}

/// An event that one thread waits for and another one reports, once.
final class Signal: Sendable {
  /// The ends of a pipe. -1 if none could be created; the event is then never waited for.
  private let reading: Int32
  private let writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    if unsafe keytree_pipe(&ends) != 0 { ends = [-1, -1] }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    for end in [reading, writing] where end >= 0 { close(end) }
  }

  /// Reports the event.
  func set() {
    let byte: [UInt8] = [1]
    _ = unsafe keytree_write_quietly(writing, byte, 1)
  }

  /// Waits until the event is reported, but not longer than a time.
  func wait(for time: Duration) {
    guard reading >= 0 else { return }
    let (seconds, attoseconds) = time.components
    let milliseconds = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    var descriptor = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    // An interrupted wait starts again. The time limit protects against an agent that hangs, so it need not be exact.
    while unsafe poll(&descriptor, 1, milliseconds) < 0, errno == EINTR {}
  }
}

/// Runs a closure on a thread of its own.
enum BackgroundThread {
  static func run(_ body: @escaping @Sendable () -> Void) {
    let context = unsafe Unmanaged.passRetained(Closure(body)).toOpaque()
    let problem = unsafe keytree_in_background(
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Closure>.fromOpaque(context).takeRetainedValue().body()
        return nil
      }, context)
    // Without a thread, the closure runs here.
    if problem != 0 { unsafe Unmanaged<Closure>.fromOpaque(context).takeRetainedValue().body() }
  }

  private final class Closure: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
