internal import CSystem
internal import Glibc
internal import Subprocess

/// A running editor and the signals that arrive while it runs.
///
/// SIGINT and SIGQUIT come from the keyboard and are meant for the editor, which receives them, too. SIGTERM and SIGHUP
/// are meant for this process: they are passed on, the editor gets two seconds to end, and the caller can clean up.
struct EditorProcess {
  private let signals: SignalWatch

  /// The time that an editor may take to end after a signal, in milliseconds.
  private static let grace: Int32 = 2000
  /// The interval between checks whether the editor has ended, in milliseconds. SIGCHLD alone does not suffice, because
  /// another part of this process may receive it.
  private static let look: Int32 = 200

  /// Starts to watch signals. Until `stop`, a signal does not end this process.
  ///
  /// - Throws: `systemCall` if no descriptors are left, or another editor runs in this process.
  init() throws(EditorError) {
    do {
      // Another command in the same process may just be ending.
      signals = try SignalWatch(patience: 1000)
    } catch {
      throw .systemCall(action: "watch signals", path: "for the editor", errno: error.errno)
    }
  }

  /// Ends the watch. Call it once, after everything that a signal must not interrupt.
  func stop() { signals.stop() }

  /// Runs the editor on a file with the terminal of this process and waits for its end.
  ///
  /// - Parameters:
  ///   - command: the editor.
  ///   - file: the absolute path of the file.
  ///   - environment: the variables for the editor, in addition to those of the command.
  /// - Throws: `notStarted`, `failed`, `killed`, `interrupted`.
  func run(_ command: EditorCommand, on file: String, environment: Environment) throws(EditorError) {
    let program = command.words.first ?? command.path
    let process = try spawn(command, on: file, environment: environment)
    let (status, signal) = wait(for: process)
    if let signal { throw .interrupted(signal: signal) }
    // The macros of wait(2): the low seven bits are the signal, the next byte the status.
    if status & 0x7F != 0 { throw .killed(program: program, signal: status & 0x7F) }
    if status >> 8 & 0xFF != 0 { throw .failed(program: program, status: status >> 8 & 0xFF) }
  }

  /// Throws if a signal that is meant for this process has arrived since the last check.
  func checkInterruption() throws(EditorError) {
    if let signal = signals.take().first(where: { $0 == SIGTERM || $0 == SIGHUP }) {
      throw .interrupted(signal: signal)
    }
  }

  /// Asks the user a question. SIGINT means no; a signal that is meant for this process is thrown.
  ///
  /// - Parameter question: asks, and receives the descriptor that becomes readable when a signal arrives. If it throws,
  ///   the answer is no.
  /// - Throws: `interrupted`.
  func ask(_ question: (Int32) throws -> Bool) throws(EditorError) -> Bool {
    // A signal that arrived while the editor ran was meant for the editor, or ends this process now.
    try checkInterruption()
    let answer = signals.duringQuestion {
      do { return try question(signals.descriptor) } catch { return false }
    }
    try checkInterruption()
    return answer
  }

  private func spawn(
    _ command: EditorCommand, on file: String, environment: Environment
  ) throws(EditorError) -> pid_t {
    var variables = ProcessEnvironment(entries: environment.entries, locale: nil)
    for variable in command.variables {
      let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      variables.set(String(parts[0]), to: String(parts.last ?? ""))
    }
    let arguments = (command.words.dropFirst() + [file]).map { Array($0.utf8) }
    var run = ProgramRun(command.path, arguments, environment: variables)
    run.group = .shared
    do {
      return try run.startOnStandardStreams()
    } catch {
      throw .notStarted(program: command.words.first ?? command.path, errno: error.errno)
    }
  }

  /// Waits for the editor to end. The returned signal is the first one that was meant for this process.
  private func wait(for process: pid_t) -> (status: Int32, signal: Int32?) {
    var status: Int32 = 0
    var meant: Int32?
    while true {
      let done = unsafe waitpid(process, &status, WNOHANG)
      if done == process || (done < 0 && errno != EINTR) { return (status, meant) }
      var request = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&request, 1, meant == nil ? Self.look : Self.grace)
      if ready == 0, meant != nil { kill(process, SIGKILL) }
      for signal in signals.take() where signal == SIGTERM || signal == SIGHUP {
        meant = meant ?? signal
        kill(process, signal)
      }
    }
  }
}
