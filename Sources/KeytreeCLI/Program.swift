package import Arguments
package import CommandSupport
internal import CSystem
internal import FileSystem
internal import Glibc
package import Keyring
package import Personalities
internal import Secrets
internal import Sync
package import Terminal

/// The program: turns arguments and an environment into an exit code.
package enum Program {
  /// All commands with the names of their declarations, in the order of the help text.
  static let commands: [(names: [String], type: any (Command & SendableMetatype).Type)] = [
    (["init"], InitCommand.self),
    (["add", "insert"], AddCommand.self),
    (["show"], ShowCommand.self),
    (["get"], GetCommand.self),
    (["find", "ls", "list", "search"], FindCommand.self),
    (["pick"], PickCommand.self),
    (["set"], SetCommand.self),
    (["edit"], EditCommand.self),
    (["generate"], GenerateCommand.self),
    (["otp"], OtpCommand.self),
    (["rm", "delete", "remove"], RemoveCommand.self),
    (["mv", "move", "rename"], MoveCommand.self),
    (["cp", "copy"], CopyCommand.self),
    (["read"], ReadCommand.self),
    (["run"], RunCommand.self),
    (["inject"], InjectCommand.self),
    (["history"], HistoryCommand.self),
    (["undelete"], UndeleteCommand.self),
    (["status"], StatusCommand.self),
    (["adopt"], AdoptCommand.self),
    (["group"], GroupCommand.self),
    (["who"], WhoCommand.self),
    (["policy"], PolicyCommand.self),
    (["resolve"], ResolveCommand.self),
    (["rotate"], RotateCommand.self),
    (["check"], CheckCommand.self),
    (["verify"], VerifyCommand.self),
    (["audit"], AuditCommand.self),
    (["doctor"], DoctorCommand.self),
    (["trust"], TrustCommand.self),
    (["clone"], CloneCommand.self),
    (["sync"], SyncCommand.self),
    (["git"], GitCommand.self),
    (["credential"], CredentialCommand.self),
    (["browser-host"], BrowserHostCommand.self),
    (["secret-service"], SecretServiceCommand.self),
    (["import"], ImportCommand.self),
    (["export"], ExportCommand.self),
    (["demo"], DemoCommand.self),
    (["config"], ConfigCommand.self),
    (["help"], HelpCommand.self),
    (["version"], VersionCommand.self),
    (["completions"], CompletionsCommand.self),
    (["textconv"], TextconvCommand.self),
    (["merge-driver"], MergeDriverCommand.self),
    ([ClipboardTarget.clearCommand], ClearClipboardCommand.self),
    ([CompletionScript.itemCommand], CompleteItemsCommand.self),
  ]

  /// The declaration from which parsing, help, completions and the manual are derived.
  package static let declaration = ProgramDeclaration(
    name: "keytree",
    summary: "a keyring that is a directory of OpenPGP files",
    globals: GlobalOptions.all,
    commands: commands.map { command in CommandEntry(command.names) { command.type.declaration } },
    topics: topics,
    impliedCommands: [(option: ClipboardTarget.clip.name, command: "get")],
    exitCodes: ExitCode.meanings,
    variables: [
      .init(
        "KEYTREE_STORE",
        "the folder or the name of the store (default: the setting `defaultStore`, else `$XDG_DATA_HOME/keytree`)"
      ),
      .init("GNUPGHOME", "the GnuPG home with your secret keys"),
      .init("VISUAL, EDITOR", "the editor of `keytree edit`"),
      .init(
        "KEYTREE_WORKERS", "the number of threads that work on many items (default: one for each processor)"),
      .init("XDG_RUNTIME_DIR", "the folder for data that must not outlive the session"),
      .init("XDG_CONFIG_HOME", "the folder for settings; see `keytree help config`"),
      .init("NO_COLOR", "if set, output on a terminal has no colors"),
      .init("XDG_STATE_HOME", "the folder for the policies that this machine has accepted"),
    ])

  /// Returns the entry point with which commands run other commands.
  private static func entry(_ engine: EngineFactory?, _ commit: String?) -> ProgramEntry {
    ProgramEntry(declaration, engine: engine, commit: commit) {
      run($0, environment: $1, console: $2, engine: engine)
    }
  }

  /// Runs the program on the arguments, environment and descriptors of this process.
  ///
  /// - Parameter commit: the commit that the program was built from; nil if it is not known.
  /// - Returns: the exit status.
  package static func run(commit: String?) -> Int32 {
    // This must come first, so that no file that is opened later becomes a standard stream.
    guard StandardDescriptors.fill() else { return ExitCode.failure.rawValue }
    keytree_end_with_children()
    let launch = LaunchState(hardening: Environment.ofProcess().entries)
    PromptTerminal.announce()
    defer { PromptTerminal.endDialogs() }
    var environment = Environment.ofProcess()
    environment.launch = launch
    let arguments = ArgumentMemory.ofProcess()
    let name = arguments.count > 0 ? ProgramName(path: arguments.word(0).bytes) : .keytree
    if name == .security {
      // Its arguments may contain secrets, so they are not copied into `Word` values.
      let call = CommandCall(withoutOptionsIn: environment, .ofProcess())
      return SecurityProgram(call).status(of: SecurityWords(arguments))
    }
    let words = (1..<max(arguments.count, 1)).map { arguments.word($0) }
    return status(
      of: words, calledAs: name, environment: environment, console: .ofProcess(), commit: commit)
  }

  /// Runs the program under one of its names.
  ///
  /// - Parameters:
  ///   - words: the arguments without the name of the program.
  ///   - name: the name under which it was called.
  ///   - environment: the environment of the process.
  ///   - console: the console for input and output.
  ///   - engine: creates the OpenPGP engine, for tests; nil for GnuPG.
  ///   - commit: the commit that the program was built from; nil if it is not known.
  /// - Returns: the exit status, as defined for that name.
  package static func status(
    of words: [Word], calledAs name: ProgramName, environment: Environment, console: Console,
    engine: EngineFactory? = nil, commit: String? = nil
  ) -> Int32 {
    let call = CommandCall(withoutOptionsIn: environment, console, engine: engine)
    switch name {
    case .keytree:
      return status(of: words, environment: environment, console: console, engine: engine, commit: commit)
    case .gitCredential:
      return status(
        of: [Word("credential"), Word("git")] + words, environment: environment, console: console,
        engine: engine)
    case .dockerCredential: return DockerProgram(call, name: name.rawValue).status(of: words)
    case .cargoCredential: return CargoProgram(call).status(of: words)
    case .keyring: return KeyringProgram(call).status(of: words)
    case .askPass: return AskPassProgram(call).status(of: words)
    case .browserHost: return BrowserHostProgram(call).status(of: words)
    case .security: return SecurityProgram(call).status(of: SecurityWords(arguments: words))
    }
  }

  /// Runs the program.
  ///
  /// - Parameters:
  ///   - words: the arguments without the name of the program.
  ///   - environment: the environment of the process.
  ///   - console: the console for input and output.
  ///   - engine: creates the OpenPGP engine, for tests; nil for GnuPG.
  /// - Returns: the exit code. All messages have already been written.
  package static func run(
    _ words: [Word], environment: Environment, console: Console, engine: EngineFactory? = nil
  ) -> ExitCode {
    let status = status(of: words, environment: environment, console: console, engine: engine)
    return ExitCode(rawValue: status) ?? .failure
  }

  /// Runs the program and returns the exit status, which may be that of another program.
  package static func status(
    of words: [Word], environment: Environment, console: Console, engine: EngineFactory? = nil,
    commit: String? = nil
  ) -> Int32 {
    do {
      let code = try dispatch(words, environment, console, entry(engine, commit))
      try console.finish()
      return code.rawValue
    } catch {
      // The caller gets the output that was already printed, even if the command failed later.
      console.flush()
      if case CommandError.exit(let status) = error { return status }
      let report = ErrorReport(describing: error)
      for line in report.lines { console.complain(line) }
      return report.exitCode.rawValue
    }
  }

  private static func dispatch(
    _ words: [Word], _ environment: Environment, _ console: Console, _ program: ProgramEntry
  ) throws -> ExitCode {
    let parsed: ProgramDeclaration.Call = try declaration.parse(words)
    let globals = GlobalOptions(parsed.arguments)
    console.isQuiet = globals.quiet
    console.refusesInput = globals.noInput
    if parsed.endedEarly {
      if parsed.arguments.has(GlobalOptions.version) {
        console.print(ProgramVersion.line)
      } else {
        let help = HelpText(declaration, width: console.width)
        console.write(
          TerminalText(composed: parsed.path.isEmpty ? help.screen() : help.command(parsed.path)))
      }
      return .done
    }
    let call = CommandCall(
      path: parsed.path, arguments: parsed.arguments, globals: globals, environment: environment,
      console: console, program: program)
    guard let command = commands.first(where: { $0.names.first == parsed.path.first?.name }) else {
      // No command was given. That needs no error message, only the help text.
      console.writeDiagnostics(TerminalText(composed: helpWithoutCommand(call)))
      return .usage
    }
    do {
      return try run(command.type, call)
    } catch {
      throw call.namingItems(in: call.namingNewKey(error))
    }
  }

  /// Returns the help for a command line without a command. On a terminal it shows a user without a store how to begin.
  private static func helpWithoutCommand(_ call: CommandCall) -> String {
    let help = HelpText(declaration, width: call.console.diagnosticsWidth)
    guard call.console.diagnosticsIsTerminal else { return help.short() }
    // Without a known folder there is no store either.
    let store = (try? call.storePath()).flatMap { RealPath.of($0) }
    return store == nil ? help.start(beginning) : help.screen()
  }

  /// Runs a command and commits pending changes. This is the one place that adds to a store's history.
  private static func run(
    _ command: any (Command & SendableMetatype).Type, _ call: CommandCall
  ) throws -> ExitCode {
    let history = command.history(of: call)
    if history != .none { call.finishMerges() }
    switch history {
    case .none: return try command.run(call)
    case .before:
      // All of these commands read the repository and report themselves if it is refused.
      let problem = commitPending(call, reportsRefusal: false)
      let code = try command.run(call)
      return code == .done ? problem ?? .done : code
    case .after:
      let committer = call.prepareCommit()
      let code: ExitCode
      do {
        code = try command.run(call)
      } catch {
        // The command may have changed something, or changes of an earlier command may be pending.
        _ = commitPending(call, committer)
        throw error
      }
      try call.commitPending(committer)
      if code == .done { call.warnOfOwnKeyEnd() }
      return code
    }
  }

  /// Commits pending changes. A failure is reported, but does not make the command fail.
  private static func commitPending(
    _ call: CommandCall, _ prepared: Committer? = nil, reportsRefusal: Bool = true
  ) -> ExitCode? {
    do {
      try call.commitPending(prepared)
      return nil
    } catch {
      let cause = (error as? NotCommittedError)?.cause
      // Commands that only read also work on a read-only store.
      if cause is KeyringError || cause is FileError { return nil }
      if let refusal = cause as? GitError, refusal.isAboutRepository, !reportsRefusal { return .gitFailed }
      let report = ErrorReport(describing: error)
      for line in report.lines { call.console.complain(line) }
      return report.exitCode
    }
  }
}
