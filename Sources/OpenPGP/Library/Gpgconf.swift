internal import CGPGME
internal import CSystem
internal import Encoding
internal import Glibc
internal import Subprocess

/// Calls of `gpgconf`, the program that knows the paths of GnuPG. It is run through libgpgme's spawn protocol.
struct Gpgconf {
  /// The absolute path of gpgconf.
  var program: String
  /// Called for every process started.
  var processStarted: () -> Void

  /// The paths of a GnuPG home that are used here.
  struct Places: Equatable {
    /// The home itself.
    var home: String
    /// The socket of its agent.
    var agentSocket: String
  }

  /// Returns the paths of a GnuPG home.
  ///
  /// - Parameter home: The GnuPG home; nil for GnuPG's default.
  /// - Returns: Absolute paths.
  /// - Throws: `agentUnreachable` when gpgconf does not print them.
  func places(home: String?) throws(EngineError) -> Places {
    // Each line is `name:value`. The value is percent-escaped.
    var values: [String: String] = [:]
    let output = try run(arguments(home) + ["--list-dirs"])
    // A line without an end may be truncated.
    let end = output.lastIndex(of: UInt8(ascii: "\n")) ?? output.startIndex
    for line in output[..<end].split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
        let value = PercentEscapes.decode(line[line.index(after: colon)...])
      else { continue }
      values[String(decoding: line[..<colon], as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }
    guard let home = values["homedir"], let socket = values["agent-socket"],
      home.hasPrefix("/"), socket.hasPrefix("/")
    else { throw .agentUnreachable(detail: "\(program) does not report the agent's socket") }
    return Places(home: home, agentSocket: socket)
  }

  /// Starts the agent of a GnuPG home if it is not running, and waits until it accepts connections.
  ///
  /// - Parameters:
  ///   - home: The GnuPG home; nil for GnuPG's default.
  ///   - socket: The socket of the agent.
  /// - Throws: `agentUnreachable` when the agent accepts no connection within 2 seconds.
  func launchAgent(home: String?, socket: String) throws(EngineError) {
    _ = try run(arguments(home) + ["--launch", "gpg-agent"])
    var attempts = 100
    while true {
      do throws(LocalConnection.Failure) {
        _ = try LocalConnection(to: socket)
        return
      } catch {
        attempts -= 1
        guard attempts > 0 else { throw EngineError(error, socket) }
        usleep(20_000)
      }
    }
  }

  private func arguments(_ home: String?) -> [String] {
    guard let home else { return [] }
    return ["--homedir", home]
  }

  /// Runs gpgconf and returns its output.
  func run(_ arguments: [String]) throws(EngineError) -> [UInt8] {
    processStarted()
    return try ProgramCall.output(of: program, arguments)
  }
}

/// Runs a GnuPG program for operations that libgpgme does not have.
enum ProgramCall {
  /// Runs a program, and checks that it has ended by itself and reports at most errors in its input.
  ///
  /// - Parameters:
  ///   - program: An absolute path.
  ///   - arguments: Its arguments.
  ///   - input: Its standard input; must not be secret.
  /// - Returns: Its standard output; nil if the end of the program is not known, because this process ignores `SIGCHLD` or
  ///   another part of it has collected the status.
  /// - Throws: `incomplete` when the program was ended, could not be run, or has another exit status than 0, 1 or 2. With 1
  ///   gpg reports bad signatures, with 2 also errors such as a missing key.
  static func run(
    _ program: String, _ arguments: [String], input: [UInt8] = []
  ) throws(EngineError) -> [UInt8]? {
    var run = ProgramRun(program, arguments, environment: ProcessEnvironment(entries: environment))
    run.input = .bytes(input)
    (run.output, run.errors) = (.collected(limit: outputLimit), .discarded)
    let outcome: ProcessOutcome
    do throws(ProcessError) {
      outcome = try run.run()
    } catch {
      if case .systemCall(_, _, ECHILD) = error { return nil }
      throw .incomplete(detail: "\(program): \(PrivateFolder.reason(error.errno))")
    }
    switch outcome.ending {
    case .exited(0...2) where outcome.isComplete: return outcome.output
    case .exited(let status): throw .incomplete(detail: "exit status \(status)")
    case .signaled(let signal): throw .incomplete(detail: "signal \(signal)")
    }
  }

  /// The most output of a program in bytes. A user id in a status line has at most two kilobytes.
  private static let outputLimit = 64 << 20

  /// The environment of this process, which libgpgme also passes on to gpg.
  private static var environment: [[UInt8]] {
    var entries: [[UInt8]] = []
    guard var next = unsafe keytree_environment() else { return [] }
    while let entry = unsafe next.pointee {
      unsafe entries.append(Array(UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
      unsafe next += 1
    }
    return entries
  }

  /// Runs a program through libgpgme's spawn protocol, and waits until it ends. The output does not tell how it has ended,
  /// so the caller must see in it that it is whole.
  ///
  /// - Parameters:
  ///   - program: An absolute path.
  ///   - arguments: Its arguments.
  /// - Returns: Its standard output, whatever its exit status is.
  /// - Throws: The error of libgpgme.
  static func output(of program: String, _ arguments: [String]) throws(EngineError) -> [UInt8] {
    let context = try unsafe Context.bare()
    defer { unsafe gpgme_release(context) }
    let code = unsafe gpgme_set_protocol(context, GPGME_PROTOCOL_SPAWN)
    guard code == 0 else { throw EngineError(code) }
    let output = try DataObject()
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    defer { unsafe words.forEach { unsafe free($0) } }
    var argv: [UnsafePointer<CChar>?] = unsafe words.map { unsafe $0.map { unsafe UnsafePointer($0) } }
    unsafe argv.append(nil)
    let target = unsafe output.pointer
    let end = unsafe gpgme_op_spawn(context, program, &argv, nil, target, nil, 0)
    guard end == 0 else { throw EngineError(end) }
    return output.bytes()
  }
}
