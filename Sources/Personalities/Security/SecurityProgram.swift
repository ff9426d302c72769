package import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// The program under the name `security`: the password commands of macOS, over a store.
///
/// Flags, output and status follow Apple's command (`SecurityTool/macOS` in its open source), so that scripts
/// written for it run. The article Programs says what differs.
package struct SecurityProgram {
  private let environment: Environment
  private let console: Console
  private let engine: EngineFactory?

  /// Creates the program in the environment and on the console of a call.
  package init(_ call: CommandCall) {
    environment = call.environment
    console = call.console
    engine = call.program.engine
  }

  /// The longest line in interactive mode: a secret in hexadecimal has room in it.
  private static let lineLimit = 2 * StoreLayout.secretLimit + 65536

  /// Runs a command line.
  ///
  /// - Parameter words: the words without the name of the program.
  /// - Returns: the status for the system.
  package func status(of words: SecurityWords) -> Int32 {
    var status = run(words)
    do {
      try console.finish()
    } catch {
      if status == .success { status = SecurityStatus(error) }
      for line in ErrorReport(describing: error).lines { console.complain(line) }
    }
    return status.exitStatus
  }

  private func run(_ words: SecurityWords) -> SecurityStatus {
    var prompt: String?
    var isQuiet = false
    var isTalkative = false
    var asksForHelp = false
    let options: SecurityOptions
    do {
      options = try SecurityOptions(words, "hilp:qvR", secrets: "")
    } catch {
      return explain()
    }
    if options.has("i") { prompt = "security> " }
    if let text = options.bytes("p") { prompt = Escaping.terminal.show(text) }
    isQuiet = options.has("q")
    isTalkative = options.has("v")
    asksForHelp = options.has("h")
    let rest = words.dropFirst(words.count - options.operands.count)
    console.isQuiet = isQuiet
    if asksForHelp {
      return finish(nil) {
        try SecurityCommands.explain(options.operands.map { $0.publicBytes() }, on: console)
      }
    }
    if rest.count > 0 { return execute(rest, isTalkative: isTalkative) }
    guard let prompt else { return explain() }
    return interact(prompt, isTalkative: isTalkative)
  }

  /// Runs the commands on standard input, to its end.
  ///
  /// - Returns: the status of the last one.
  private func interact(_ prompt: String, isTalkative: Bool) -> SecurityStatus {
    var status = SecurityStatus.success
    while true {
      if console.inputIsTerminal { console.writeDiagnostics("\(prompt)") }
      let words: [SecretSlice]
      do {
        guard let line = try console.readProgramLine(limit: Self.lineLimit) else { return status }
        words = SecurityLine.words(of: line)
      } catch {
        return finish(nil) { throw SecurityFailure(error, at: "readline") }
      }
      guard let first = words.first else { continue }
      status = execute(SecurityWords(typed: words), isTalkative: isTalkative)
      console.flush()
      if status != .success {
        console.say("\(Escaping.terminal.show(first.publicBytes())): returned \(status.rawValue)")
      }
      if console.outputIsClosed { return status }
    }
  }

  /// Runs one command.
  private func execute(_ words: SecurityWords, isTalkative: Bool) -> SecurityStatus {
    let name = words[0].publicBytes()
    guard let command = SecurityCommands.named(name) else {
      console.complain("security: unknown command \"\(Escaping.terminal.show(name))\"")
      return .failure
    }
    let options: SecurityOptions
    do {
      options = try SecurityOptions(words.dropFirst(1), command.letters, secrets: command.secrets)
    } catch {
      return finish(command) { throw SecurityFailure.usage }
    }
    // The original repeats all words, the password among them.
    if isTalkative { console.complain(command.name) }
    if options.hasShownSecret {
      console.complain(
        "security: warning: a password among the arguments can be seen by every user of this machine; "
          + "`security -i` takes the command from standard input")
    }
    let call = SecurityCall(
      command: command, options: options,
      call: CommandCall(withoutOptionsIn: environment, console, engine: engine))
    return finish(command) { try run(call) }
  }

  /// Runs a command, and commits what waits when it may have changed something.
  private func run(_ call: SecurityCall) throws {
    guard call.command.writes else { return try call.command.run(call) }
    call.call.finishMerges()
    do {
      try call.command.run(call)
    } catch {
      // It may have changed something, or what an earlier one left may wait; why that fails is told next time.
      try? call.call.commitPending()
      throw error
    }
    try securityCall("git") { try call.call.commitPending() }
  }

  /// Does something and says why it failed.
  private func finish(
    _ command: SecurityCommand?, _ body: () throws -> Void
  ) -> SecurityStatus {
    do {
      try body()
      return .success
    } catch {
      let failure = error as? SecurityFailure ?? SecurityFailure(error, at: "keytree")
      for line in failure.lines { console.complain(line) }
      if failure.status == .usage, let command {
        console.complain("Usage: \(command.name) \(command.usage)")
        console.complain("        \(command.summary)")
      }
      return failure.status
    }
  }

  /// Says how the program is used.
  private func explain() -> SecurityStatus {
    console.write(
      """
      Usage: security [-h] [-i] [-l] [-p prompt] [-q] [-v] [command] [opt ...]
          -i    Read commands from standard input.
          -l    Accepted and not looked at.
          -p    The prompt of -i, which it implies.
          -q    Say less.
          -v    Say which command runs.
      security commands are:

      """)
    _ = finish(nil) { try SecurityCommands.explain([], on: console) }
    return .usage
  }
}
