package import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// The program under the name `security`: the password commands of macOS for a store.
///
/// Options, output and exit status follow Apple's command (`SecurityTool/macOS` in its open source), so that its
/// scripts run unchanged. The article Programs lists the differences.
package struct SecurityProgram {
  private let environment: Environment
  private let console: Console
  private let engine: EngineFactory?

  /// Creates the program in the environment and on the console of a call.
  package init(_ call: CommandCall) {
    environment = call.environment
    console = call.console
    console.wrapsText = false
    engine = call.program.engine
  }

  /// The largest size of a line in interactive mode, enough for a secret in hexadecimal.
  private static let lineLimit = 2 * StoreLayout.secretLimit + 65536

  /// Runs a command line.
  ///
  /// - Parameter words: the words without the name of the program.
  /// - Returns: the exit status of the process.
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

  /// Runs the commands on standard input until its end.
  ///
  /// - Returns: the status of the last command.
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
    // macOS prints all words, including a password.
    if isTalkative { console.complain(command.name) }
    if options.hasShownSecret {
      console.complain(
        "security: warning: a password in the arguments is visible to every user of this machine; "
          + "`security -i` reads commands from standard input")
    }
    let call = SecurityCall(
      command: command, options: options,
      call: CommandCall(withoutOptionsIn: environment, console, engine: engine))
    return finish(command) { try run(call) }
  }

  /// Runs a command, and then commits the pending changes if the command writes.
  private func run(_ call: SecurityCall) throws {
    guard call.command.writes else { return try call.command.run(call) }
    call.call.finishMerges()
    do {
      try call.command.run(call)
    } catch {
      // The command or an earlier one may have left pending changes. The next run reports why they cannot be committed.
      try? call.call.commitPending()
      throw error
    }
    try securityCall("git") { try call.call.commitPending() }
  }

  /// Runs code and prints the messages of a failure.
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
        for line in command.usageLines { console.complain(line) }
        console.complain("        \(command.summary)")
      }
      return failure.status
    }
  }

  /// Prints the usage of the program.
  private func explain() -> SecurityStatus {
    console.write(
      """
      Usage: security [-h] [-i] [-l] [-p prompt] [-q] [-v] [command] [opt ...]
          -i    Read commands from standard input.
          -l    Accepted and ignored.
          -p    Like -i, with this prompt.
          -q    Print less.
          -v    Print the name of each command.
      security commands are:

      """)
    _ = finish(nil) { try SecurityCommands.explain([], on: console) }
    return .usage
  }
}
