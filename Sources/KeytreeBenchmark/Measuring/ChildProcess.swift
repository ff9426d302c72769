internal import Glibc
internal import Subprocess

/// A program with its arguments, environment and files. It inherits only the current folder.
struct Command: Sendable {
  /// The absolute path of the program.
  var program: String
  /// Its arguments, without its own name.
  var arguments: [String]
  /// Its environment variables, as `NAME=value`.
  var environment: [String]
  /// The file that it reads.
  var input = "/dev/null"
  /// The file that its standard output goes to.
  var output = "/dev/null"
  /// The file that its standard error goes to.
  var errors = "/dev/null"

  /// The command line, for messages.
  var text: String { ([program] + arguments).joined(separator: " ") }
}

/// The result and the cost of a process.
struct ProcessOutcome: Sendable {
  /// The exit status; nil when a signal ended it.
  var status: Int32?
  /// The signal that ended it.
  var signal: Int32?
  /// The time from before its start to after its end, in seconds.
  var seconds: Double
  /// The time of all processors in the process and in the processes that it waited for, in seconds.
  var processorSeconds: Double
  /// The peak memory of the process, or of a process that it waited for, in bytes.
  var peakMemory: Int

  /// The way it ended, as text.
  var ending: String {
    if let signal { return "ended by signal \(signal)" }
    return "exit status \(status ?? -1)"
  }
}

/// A running process.
///
/// It is started with `posix_spawn(3)`, which does not copy this process, and awaited with `wait4(2)`, which reports
/// the peak memory. The kernel counts a child's peak from that of its parent before `execve`, so this program stays
/// small and leaves large work to children.
struct ChildProcess {
  /// The process id.
  let identifier: pid_t
  private let started: Double

  /// Starts a process.
  ///
  /// - Parameter command: The program.
  /// - Throws: `system` when it cannot be started.
  init(_ command: Command) throws(BenchmarkError) {
    var run = ProgramRun(
      command.program, command.arguments,
      environment: ProcessEnvironment(entries: command.environment.map { Array($0.utf8) }, locale: nil))
    run.group = .shared
    started = Clock.now
    do {
      identifier = try run.start(input: command.input, output: command.output, errors: command.errors)
    } catch {
      throw .system(action: "start", path: command.program, errno: error.errno)
    }
  }

  /// Waits for the end of the process.
  func wait() -> ProcessOutcome {
    var status: Int32 = 0
    var usage = rusage()
    while unsafe wait4(identifier, &status, 0, &usage) < 0 && errno == EINTR {}
    return outcome(status, usage)
  }

  /// Waits for the first of several processes to end, and removes it from the list.
  ///
  /// - Parameter running: All children that this process has; not empty.
  /// - Returns: Its position in the list, and its outcome.
  static func waitForAny(of running: inout [ChildProcess]) -> (place: Int, outcome: ProcessOutcome) {
    var status: Int32 = 0
    var usage = rusage()
    while true {
      let ended = unsafe wait4(-1, &status, 0, &usage)
      if ended < 0 && errno == EINTR { continue }
      guard let place = running.firstIndex(where: { $0.identifier == ended }) else { continue }
      let process = running.remove(at: place)
      return (place, process.outcome(status, usage))
    }
  }

  private func outcome(_ status: Int32, _ usage: rusage) -> ProcessOutcome {
    let seconds = Clock.now - started
    // The macros of wait(2): the low seven bits are the signal, the next byte the status.
    let signal = status & 0x7F
    return ProcessOutcome(
      status: signal == 0 ? status >> 8 & 0xFF : nil, signal: signal == 0 ? nil : signal, seconds: seconds,
      processorSeconds: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime),
      peakMemory: usage.ru_maxrss * 1024)
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }

  /// Runs a process from its start to its end.
  static func run(_ command: Command) throws(BenchmarkError) -> ProcessOutcome {
    try ChildProcess(command).wait()
  }
}

/// The monotonic clock, in seconds (`CLOCK_MONOTONIC`).
enum Clock {
  /// The time since an arbitrary moment.
  static var now: Double {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
