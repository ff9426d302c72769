internal import Clocks
internal import Glibc

/// The communication with a child between its start and its outcome: its input and output, its end, and the steps to
/// stop it.
struct Exchange: ~Copyable {
  private let run: ProgramRun
  private let child: ChildWatch
  private var feed: InputFeed
  private var output: OutputReader
  private var errors: OutputReader

  private let signals: UInt32
  private let timeOver: Duration?
  private var end: Duration?
  private var stopping: Stopping?

  // The state of a child that was asked to end.
  private struct Stopping {
    // Nil if the child wrote too much or one of its streams failed.
    let reason: ProcessOutcome.Stop?
    let killTime: Duration
    var isKilled = false
  }

  /// The time for which processes that the child left running may keep its streams open after its end.
  private static let grace = Duration.milliseconds(200)
  /// The interval between checks for the end of a child that has no descriptor.
  private static let look = Duration.milliseconds(10)
  /// The interval between checks for signals.
  private static let signalLook = Duration.milliseconds(250)

  /// Takes ownership of a child that has just been started, and of the parent's ends of its streams.
  ///
  /// - Parameter signals: The number of signals that had been received before the start.
  init(
    of run: ProgramRun, with child: consuming ChildWatch, signals: UInt32, input: consuming Descriptor,
    output: consuming Descriptor, errors: consuming Descriptor
  ) {
    self.run = run
    self.child = child
    feed = InputFeed(run.input, into: input)
    self.output = OutputReader(.output, as: run.output, from: output)
    self.errors = OutputReader(.errors, as: run.errors, from: errors)
    timeOver = run.timeout.map { SystemClock.awake + $0 }
    self.signals = signals
  }

  /// Reads and writes until the child has ended.
  mutating func untilEnd(_ eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { unsafe buffer.deallocate() }
    while true {
      let now = SystemClock.awake
      look(now)
      if end != nil, output.hasEnded && errors.hasEnded || now >= (nextStep ?? now) { break }
      stopWhenDue(now)
      unsafe wait(now, with: buffer, eachLine)
    }
    unsafe output.finish(with: buffer, eachLine: eachLine)
    unsafe errors.finish(with: buffer, eachLine: eachLine)
    // The processes that the child started have had the same time to end.
    if stopping != nil { child.signal(SIGKILL) }
  }

  /// Returns the outcome of a child that has ended. Must be called only once.
  ///
  /// - Throws: `tooMuchOutput`; `systemCall` if the status is lost, or if reading from or writing to the program
  ///   failed.
  func outcome() throws(ProcessError) -> ProcessOutcome {
    let ending = try child.status()
    let stop = stopping?.reason
    if stop == nil {
      for case (let action, let code?) in [
        ("write to", feed.failure), ("read from", output.failure), ("read from", errors.failure),
      ] {
        throw .systemCall(action: action, path: run.program, errno: code)
      }
      for (stream, isOver, limit) in [
        (ProcessStream.output, output.isOverLimit, output.limit), (.errors, errors.isOverLimit, errors.limit),
      ] where isOver {
        throw .tooMuchOutput(program: run.program, stream: stream, limit: limit)
      }
    }
    return ProcessOutcome(
      ending: ending, output: output.bytes, errors: errors.bytes, stop: stop,
      isComplete: output.isComplete && errors.isComplete)
  }

  /// Detects the end of the child.
  private mutating func look(_ now: Duration) {
    guard end == nil, child.hasEnded else { return }
    end = now
    feed.end()
  }

  /// The time of the next step that has to be taken without an event.
  private var nextStep: Duration? {
    if let stopping, !stopping.isKilled { return stopping.killTime }
    if let end { return end + Self.grace }
    return stopping == nil ? timeOver : nil
  }

  private mutating func stopWhenDue(_ now: Duration) {
    guard end == nil else { return }
    if let killTime = stopping?.killTime {
      if now >= killTime, stopping?.isKilled == false {
        child.signal(SIGKILL)
        stopping?.isKilled = true
      }
    } else if output.isOverLimit || errors.isOverLimit || hasFailed {
      stop(nil, now)
    } else if run.receivedSignals != signals {
      stop(.interruption, now)
    } else if let timeOver, now >= timeOver {
      stop(.timeout, now)
    }
  }

  private var hasFailed: Bool { feed.failure != nil || output.failure != nil || errors.failure != nil }

  private mutating func stop(_ reason: ProcessOutcome.Stop?, _ now: Duration) {
    stopping = Stopping(reason: reason, killTime: now + run.patience)
    child.terminate()
  }

  /// Waits for the next event and handles it.
  private mutating func wait(
    _ now: Duration, with buffer: UnsafeMutableRawBufferPointer,
    _ eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void
  ) {
    // `poll(2)` ignores a negative number.
    let numbers = [
      (feed.number, POLLOUT), (output.number, POLLIN), (errors.number, POLLIN),
      (end == nil ? child.number : -1, POLLIN),
      (end == nil && stopping == nil ? run.interruption ?? -1 : -1, POLLIN),
    ]
    var requests = numbers.map { pollfd(fd: $0, events: Int16($1), revents: 0) }
    var time = nextStep.map { $0 - now }
    if end == nil, child.number < 0 { time = min(time ?? Self.look, Self.look) }
    // Another thread can have received the signal.
    if end == nil, stopping == nil, run.signals != .none {
      time = min(time ?? Self.signalLook, Self.signalLook)
    }
    guard unsafe poll(&requests, nfds_t(requests.count), Self.milliseconds(time)) > 0 else { return }
    if requests[0].revents != 0 { feed.feed() }
    if requests[1].revents != 0 { unsafe output.read(with: buffer, eachLine: eachLine) }
    if requests[2].revents != 0 { unsafe errors.read(with: buffer, eachLine: eachLine) }
    if requests[4].revents != 0 { stop(.interruption, now) }
  }

  /// Converts a duration to milliseconds for `poll(2)`: rounded up, so that it has passed when the call returns; -1 for
  /// no limit.
  private static func milliseconds(_ time: Duration?) -> Int32 {
    guard let time else { return -1 }
    let (seconds, attoseconds) = time.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(max(0, seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}
