internal import CSystem
internal import Glibc

/// One run of a program and everything that it inherits.
///
/// No shell is involved. The program starts with three open descriptors, an empty signal mask, and the default action
/// for every signal. Only SIGHUP, SIGINT and SIGQUIT stay ignored if this process ignores them, as under `nohup(1)`. It
/// inherits the umask and the limits of `setrlimit(2)` except for ``memoryLimit``.
package struct ProgramRun: Sendable {
  /// The inputs of a program.
  package enum Input: Sendable {
    /// Empty input.
    case none
    /// These bytes, followed by the end of the file. It is not an error if the program stops reading early.
    case bytes([UInt8])
    /// An open descriptor of this process, such as a terminal.
    case descriptor(Int32)
  }

  /// The destinations of output.
  package enum Output: Sendable {
    /// The output is discarded.
    case discarded
    /// The output becomes part of the outcome, up to this number of bytes. More is an error and ends the program.
    case collected(limit: Int)
    /// Each line is passed to the caller of `run` while the program runs. A line with more bytes than the limit,
    /// without its line feed, is an error and ends the program.
    case lines(limit: Int)
    /// The output goes to an open descriptor of this process, such as a terminal.
    case descriptor(Int32)
  }

  /// The process group of the program (`setpgid(2)`).
  package enum Group: Sendable {
    /// A new group: it does not receive signals from the keyboard, the processes that it starts can be ended with it,
    /// and reading from the terminal stops it.
    case own
    /// The group of this process, for a program that interacts with the user at the terminal. Only the program itself
    /// can be ended then, not the processes that it started.
    case shared
  }

  /// The absolute path of the program.
  package var program: String
  /// The arguments, without the name of the program.
  package var arguments: [[UInt8]]
  /// The environment variables.
  package var environment: ProcessEnvironment
  /// The working directory; nil for that of this process.
  package var folder: String?
  /// The standard input.
  package var input = Input.none
  /// The destination of standard output.
  package var output = Output.collected(limit: 1 << 20)
  /// The destination of standard error.
  package var errors = Output.collected(limit: 1 << 20)
  /// The process group.
  package var group = Group.own
  /// The time limit, not counting time in which the machine is suspended; nil for none.
  package var timeout: Duration?
  /// The limit on the data memory in bytes (`RLIMIT_DATA` in `setrlimit(2)`), for the program and for each program that
  /// it starts; nil for the limit of this process.
  package var memoryLimit: Int?
  /// An open descriptor that becomes readable, or whose other end is closed, when the program should be stopped.
  package var interruption: Int32?

  /// The signals that end the program while this process holds them back to clean up first. Signals that this process does
  /// not hold back end both; see `keytree_end_with_children`.
  package enum Signals: Sendable {
    case none
    /// SIGTERM and SIGHUP, for a program that shares the terminal and gets the signals of the keyboard itself.
    case termination
    /// Also those of the keyboard.
    case all
  }

  /// The signals of this process that end the program.
  package var signals = Signals.none

  /// The time between SIGTERM and SIGKILL. Only tests change this and the next.
  package var patience = Duration.seconds(2)
  /// A Boolean value that indicates whether a descriptor reports the end, if the kernel offers one;
  /// `pidfd_open(2)`.
  var usesDescriptor = true

  /// Creates a run with empty input that collects up to 1 MiB of each stream.
  ///
  /// - Parameters:
  ///   - program: The absolute path of the program; `ProgramSearch` finds it.
  ///   - arguments: The arguments, without the name of the program and without NUL bytes.
  ///   - environment: The environment variables.
  package init(_ program: String, _ arguments: [[UInt8]], environment: ProcessEnvironment) {
    (self.program, self.arguments, self.environment) = (program, arguments, environment)
  }

  /// Creates a run with arguments given as strings.
  package init(_ program: String, _ arguments: [String], environment: ProcessEnvironment) {
    self.init(program, arguments.map { Array($0.utf8) }, environment: environment)
  }

  /// Runs the program and waits for its end. Uses no other thread.
  ///
  /// The program is stopped if it exceeds its time limit, if it is interrupted, or if it writes too much. Its process
  /// group receives SIGTERM. The rest of the group receives SIGKILL two seconds later, or as soon as the program has
  /// ended and no process has its streams open. If the program is not stopped, the processes that it started continue.
  /// If one of them keeps a stream open, the method returns a fifth of a second after the end of the program, and the
  /// outcome is marked as incomplete. A program that the system cannot end, such as one that waits for an unreachable
  /// file server, blocks this method.
  ///
  /// - Parameter eachLine: Receives each line of a stream with the destination `lines`, without its line feed. The last
  ///   line does not need a line feed.
  /// - Returns: The exit status, whatever it is, and the collected output.
  /// - Throws: `notFound`, `notExecutable`, `containsNUL` or `systemCall` if the program could not be started;
  ///   `tooMuchOutput` if it wrote too much and was ended; `systemCall` if a stream failed and it was ended;
  ///   `systemCall` with ECHILD if another part of this process has collected its status.
  package func run(
    eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void = { _, _ in }
  ) throws(ProcessError) -> ProcessOutcome {
    let input = try StreamEnds(input)
    let output = try StreamEnds(output)
    let errors = try StreamEnds(errors)
    let signals = receivedSignals
    let child = try start(input: input.child, output: output.child, errors: errors.child)
    var exchange = Exchange(
      of: self, with: child, signals: signals, input: input.own, output: output.own, errors: errors.own)
    exchange.untilEnd(eachLine)
    return try exchange.outcome()
  }

  /// Starts the program. A signal that ends this process also ends the program, even if it arrives during the start.
  private func start(
    input: consuming Descriptor, output: consuming Descriptor, errors: consuming Descriptor
  ) throws(ProcessError) -> ChildWatch {
    var (mask, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&mask)
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { unsafe sigaddset(&mask, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &mask, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    // `spawn` closes this process's copies of the child's ends, because a stream ends only when all copies are closed.
    return ChildWatch(try spawn(input: input, output: output, errors: errors), of: self)
  }

  /// The number of signals that were reported in this process and that end the program.
  var receivedSignals: UInt32 {
    switch signals {
    case .none: 0
    case .termination: keytree_signals_count(0)
    case .all: keytree_signals_count(1)
    }
  }
}
