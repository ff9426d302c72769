/// One run of a program, with all that it gets: nothing is inherited but what is named here.
///
/// No shell is asked. The program finds three descriptors open, an empty signal mask, and every signal as at the
/// start of a program, but for SIGHUP, SIGINT and SIGQUIT, which stay ignored where this process ignores them, as
/// under `nohup(1)`. The limits of `setrlimit(2)`, but for ``memoryLimit``, and the umask are those of this process.
package struct ProgramRun: Sendable {
  /// The inputs of a program.
  package enum Input: Sendable {
    /// The end of the file at once.
    case none
    /// These bytes, then the end of the file. A program that stops reading early is not a failure.
    case bytes([UInt8])
    /// An open descriptor of this process, such as a terminal.
    case descriptor(Int32)
  }

  /// The destinations of output.
  package enum Output: Sendable {
    /// Nowhere.
    case discarded
    /// To the outcome, up to a number of bytes. One more is an error, and ends the program.
    case collected(limit: Int)
    /// Line by line to the caller of `run`, while the program runs. A line with more bytes than the limit, its
    /// line feed not counted, is an error, and ends the program.
    case lines(limit: Int)
    /// To an open descriptor of this process, such as a terminal.
    case descriptor(Int32)
  }

  /// The process group of the program; `setpgid(2)`.
  package enum Group: Sendable {
    /// A group of its own: signals from the keyboard do not reach it, what it starts can be ended with it, and
    /// reading from the terminal stops it.
    case own
    /// The group of this process, for a program that talks to the person at the terminal. Only the program
    /// itself can be ended then, not what it has started.
    case shared
  }

  /// The absolute path of the program.
  package var program: String
  /// Its arguments, without its own name.
  package var arguments: [[UInt8]]
  /// Its variables.
  package var environment: ProcessEnvironment
  /// The folder in which it starts; nil for that of this process.
  package var folder: String?
  /// The standard input.
  package var input = Input.none
  /// The destination of standard output.
  package var output = Output.collected(limit: 1 << 20)
  /// The destination of standard error.
  package var errors = Output.collected(limit: 1 << 20)
  /// Its process group.
  package var group = Group.own
  /// The time limit, not counting sleep of the machine; nil for none.
  package var timeout: Duration?
  /// The most bytes of memory that the program, and each program that it starts, may ask for; nil for no limit of
  /// its own.
  /// `RLIMIT_DATA` in `setrlimit(2)`.
  package var memoryLimit: Int?
  /// An open descriptor that becomes readable, or is closed at its other end, when the program shall end.
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

  /// A run that reads nothing and collects up to 1 MiB of each stream.
  ///
  /// - Parameters:
  ///   - program: The absolute path of the program; `ProgramSearch` finds it.
  ///   - arguments: Its arguments, without its own name; no byte may be NUL.
  ///   - environment: Its variables.
  package init(_ program: String, _ arguments: [[UInt8]], environment: ProcessEnvironment) {
    (self.program, self.arguments, self.environment) = (program, arguments, environment)
  }

  /// A run with arguments that are texts.
  package init(_ program: String, _ arguments: [String], environment: ProcessEnvironment) {
    self.init(program, arguments.map { Array($0.utf8) }, environment: environment)
  }

  /// Runs the program to its end, on this thread alone.
  ///
  /// The program is stopped when its time is over, when it is interrupted, and when it writes too much: SIGTERM to
  /// its process group, and SIGKILL to what is left of the group two seconds later, or as soon as the program has
  /// ended and nothing holds its streams. Otherwise what it leaves running goes on; when that keeps a stream open,
  /// the outcome comes a fifth of a second after the end of the program and says that it may not be complete.
  /// A program that the system does not let end, such as one that waits for a dead file server, is waited for.
  ///
  /// - Parameter eachLine: Is handed every line of a stream that is read by `lines`, without its line feed, and the
  ///   last one also when it has none.
  /// - Returns: How the program ended, whatever its status, and what it wrote.
  /// - Throws: `notFound`, `notExecutable`, `containsNUL` and `systemCall` when it was not started; `tooMuchOutput`
  ///   when it was ended for that; `systemCall` when its streams failed, and it was ended for that; `systemCall` with
  ///   ECHILD when another part of this process has taken its status.
  package func run(
    eachLine: (ProcessStream, ArraySlice<UInt8>) -> Void = { _, _ in }
  ) throws(ProcessError) -> ProcessOutcome {
    let input = try StreamEnds(input)
    let output = try StreamEnds(output)
    let errors = try StreamEnds(errors)
    // The ends of the child are closed here as soon as it has them: a stream ends when nobody holds its end.
    let process = try spawn(input: input.child, output: output.child, errors: errors.child)
    var exchange = Exchange(
      of: self, with: ChildWatch(process, of: self), input: input.own,
      output: output.own, errors: errors.own)
    exchange.untilEnd(eachLine)
    return try exchange.outcome()
  }
}
