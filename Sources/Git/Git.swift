internal import Encoding
internal import FileSystem
package import Subprocess

/// Git for a folder: the program, its environment and its options.
package struct Git: Sendable {
  /// The oldest supported version, in which all options are known to work.
  package static let oldestVersion = (2, 38)
  /// The time limit of a command that uses no network.
  package static let usualTimeout = Duration.seconds(600)

  /// The absolute path of the program; nil if it was not found, in which case running it throws an error.
  package let program: String?
  /// The environment of the user, from which that of git is derived.
  package let outerEnvironment: ProcessEnvironment
  /// The top of the work tree.
  package var folder: String
  /// The time limit of a command; nil for none.
  package var timeout: Duration? = usualTimeout
  /// True if the folder is the top of a work tree. Otherwise git searches for a repository itself.
  package var isInWorkTree = true
  /// True if the folder is a bare repository.
  package var isBare = false
  /// True if git sees the quarantined objects of a push that is not accepted yet. A hook that verifies the push needs
  /// them.
  package var seesQuarantine = false
  /// True if paths are interpreted literally. Some commands do not support this.
  package var takesPathsLiterally = true
  /// The limit on the data memory of each process of a command, in bytes; nil for none.
  package var memoryLimit: Int?
  /// True if git may connect to other repositories.
  package private(set) var usesNetwork = false
  /// True if git may ask the user at the terminal for the passphrase of an ssh key or for a password.
  private var asksPerson = false
  /// Options for connections to other repositories.
  private var networkOptions: [String] = []

  /// Creates the git for a folder.
  ///
  /// - Parameters:
  ///   - folder: An absolute path without links. Git looks for a repository here, but not in parent folders.
  ///   - searchPath: The folders in which to look for the program, as in `PATH`.
  ///   - environment: The environment of the user.
  package init(in folder: String, searchPath: String, environment: ProcessEnvironment) {
    program = ProgramSearch.path(of: "git", in: searchPath)
    (self.folder, outerEnvironment) = (folder, environment)
  }

  /// The memory limit for receiving objects, in bytes. A pack of a hundred kilobytes can contain objects of gigabytes,
  /// which git expands in memory (threat T46). A hundred thousand items with their history take a quarter of this
  /// limit.
  package static let receivingLimit = 512 << 20

  /// The time limit of a command that uses the network.
  package static let networkTimeout = Duration.seconds(300)

  /// Returns the same git with permission to connect to other machines.
  ///
  /// - Parameter asksPerson: True if it may ask the user at the terminal. Otherwise it fails where it would have to
  ///   ask.
  /// - Throws: The errors of `RemoteAccess`.
  package func forNetwork(asksPerson: Bool) throws -> Git {
    var git = self
    git.usesNetwork = true
    git.asksPerson = asksPerson
    git.timeout = Self.networkTimeout
    let configuration = try GitConfiguration(in: self)
    git.networkOptions = configuration.transportOptions
    if !asksPerson {
      // ssh itself asks at the terminal, whatever the settings of git are.
      let command = configuration.value("core.sshcommand") ?? "ssh"
      git.networkOptions += ["-c", "core.sshCommand=\(command) -o BatchMode=yes"]
    }
    return git
  }

  /// Returns the version that git reports, such as `2.39.5`.
  ///
  /// - Throws: `tooOld` if the version is not supported, and the errors of `run`.
  package func version() throws -> String {
    let words = String(decoding: try run(["version"]), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count >= 3 else { throw GitError.unexpectedOutput(command: "version") }
    let numbers = words[2].split(separator: ".").prefix(2).compactMap { Int($0) }
    guard numbers.count == 2 else { throw GitError.unexpectedOutput(command: "version") }
    guard (numbers[0], numbers[1]) >= Self.oldestVersion else {
      throw GitError.tooOld(version: String(words[2]))
    }
    return String(words[2])
  }

  /// Runs a command and throws an error unless it succeeds.
  ///
  /// - Parameters:
  ///   - arguments: The command and its arguments.
  ///   - input: The standard input.
  ///   - limit: The limit on its output in bytes.
  /// - Returns: The standard output.
  /// - Throws: Every case of `GitError` that git itself can cause.
  @discardableResult
  package func run(
    _ arguments: [String], input: [UInt8] = [], limit: Int = 1 << 20
  ) throws -> [UInt8] {
    let outcome = try outcome(of: arguments, input: input, limit: limit)
    guard outcome.ending == .exited(status: 0) else { throw failure(arguments, outcome) }
    return outcome.output
  }

  /// Runs a command that only reads, and throws an error unless it can read everything. Git reports a reference or an
  /// object that it cannot read, but may go on as if it did not exist.
  ///
  /// - Parameter limit: The limit on its output in bytes.
  /// - Returns: The standard output.
  /// - Throws: The errors of ``run(_:input:limit:)``.
  package func query(_ arguments: [String], input: [UInt8] = [], limit: Int = 1 << 20) throws -> [UInt8] {
    let outcome = try outcome(of: arguments, input: input, limit: limit)
    guard outcome.ending == .exited(status: 0), !Self.reportsUnreadable(outcome.errors) else {
      throw failure(arguments, outcome)
    }
    return outcome.output
  }

  private static func reportsUnreadable(_ errors: [UInt8]) -> Bool {
    errors.split(separator: UInt8(ascii: "\n")).contains { line in
      ["error: ", "fatal: ", "warning: ignoring broken ref"].contains { line.starts(with: $0.utf8) }
    }
  }

  /// Runs a command whose exit status is part of the result.
  ///
  /// - Returns: The outcome, with any status.
  /// - Throws: `notInstalled`, `process`, `timedOut`, `killed`.
  package func outcome(
    of arguments: [String], input: [UInt8] = [], limit: Int = 1 << 20
  ) throws -> ProcessOutcome {
    guard let program else { throw GitError.notInstalled }
    var run = ProgramRun(
      program,
      placeOptions + GitOptions.fixed + networkOptions + arguments,
      environment: environment)
    run.folder = folder
    if asksPerson { run.group = .shared }
    run.input = input.isEmpty ? .none : .bytes(input)
    run.output = .collected(limit: limit)
    run.timeout = timeout
    run.memoryLimit = memoryLimit
    (run.signals, run.patience) = (.all, Self.patience)
    let outcome: ProcessOutcome
    do {
      outcome = try run.run()
    } catch {
      throw GitError.process(error)
    }
    let command = Self.command(in: arguments)
    if outcome.stop == .interruption { throw GitError.killed(command: command, signal: Self.termination) }
    guard outcome.stop == nil else { throw GitError.timedOut(command: command) }
    if case .signaled(let signal) = outcome.ending { throw GitError.killed(command: command, signal: signal) }
    return outcome
  }

  /// The time for git to end after SIGTERM.
  private static let patience = Duration.milliseconds(500)
  /// SIGTERM.
  private static let termination: Int32 = 15

  /// The most bytes of a list of files: some hundred thousand of them. A tree of a kilobyte can name millions.
  package static let listLimit = 1 << 26

  /// The memory limit for creating such a list, in bytes. `git diff-tree` builds the whole list before it prints any of
  /// it.
  package static let listMemoryLimit = 256 << 20

  /// The memory limit in bytes for a list that is created in another way if it is too long: some hundred thousand
  /// files.
  package static let shortListMemoryLimit = 64 << 20

  /// Runs a command that prints records, each terminated by NUL.
  ///
  /// - Parameters:
  ///   - limit: The limit on its output in bytes.
  ///   - memoryLimit: The memory limit in bytes.
  /// - Returns: The records, without NUL.
  /// - Throws: The errors of `run`.
  package func records(
    _ arguments: [String], input: [UInt8] = [], limit: Int = listLimit,
    memoryLimit: Int = listMemoryLimit
  ) throws -> [ArraySlice<UInt8>] {
    var git = self
    git.memoryLimit = memoryLimit
    return try git.query(arguments, input: input, limit: limit).split(separator: 0)
  }

  /// Returns the error for an outcome that is not status 0.
  package func failure(_ arguments: [String], _ outcome: ProcessOutcome) -> GitError {
    let message = String(decoding: outcome.errors.prefix(4096), as: UTF8.self)
    let command = Self.command(in: arguments)
    guard case .exited(let status) = outcome.ending else { return .timedOut(command: command) }
    // With LC_ALL=C these are git's original messages, which have not changed for many versions.
    // The repository can be a remote on this machine.
    if let path = Self.quoted(in: message, after: "detected dubious ownership in repository at ") {
      return .unsafeOwner(path: path)
    }
    // A message of git or of zlib.
    if message.lowercased().contains(bytesOf: "out of memory"), let memoryLimit {
      return .tooMuchMemory(command: command, limit: memoryLimit)
    }
    if message.contains(bytesOf: "not a git repository") { return .notARepository(path: folder) }
    if message.contains(bytesOf: ".lock': File exists") {
      return .locked(path: Self.lock(in: message) ?? folder)
    }
    return .failed(command: command, status: status, message: FailureReason.text(in: outcome.errors))
  }

  /// Runs a command for the user, with the streams and the terminal of this process.
  ///
  /// - Parameters:
  ///   - arguments: The command and its arguments as typed by the user.
  ///   - place: The folder to start in.
  ///   - connection: The options with which git may connect to other repositories; nil if it may not.
  ///   - pager: The pager for long output; nil if the output does not go to a terminal.
  /// - Returns: The exit status of git; 128 plus the signal number if a signal ended it, as in a shell.
  /// - Throws: `notInstalled`, `process`.
  package func runForPerson(
    _ arguments: [[UInt8]], in place: String, connection: [String]?, pager: String?
  ) throws -> Int32 {
    guard let program else { throw GitError.notInstalled }
    var environment = GitOptions.environmentForPerson(outerEnvironment, connects: connection != nil)
    environment.set("GIT_CEILING_DIRECTORIES", to: Self.parent(of: folder))
    if let pager { environment.set("GIT_PAGER", to: pager) }
    let options =
      placeOptions + (pager == nil ? ["--no-pager"] : []) + GitOptions.forPerson + (connection ?? [])
    var run = ProgramRun(program, options.map { Array($0.utf8) } + arguments, environment: environment)
    run.folder = place
    (run.input, run.output, run.errors) = (.descriptor(0), .descriptor(1), .descriptor(2))
    run.group = .shared
    (run.signals, run.patience) = (.termination, Self.patience)
    do {
      switch try run.run().ending {
      case .exited(let status): return status
      case .signaled(let signal): return 128 + signal
      }
    } catch {
      throw GitError.process(error)
    }
  }

  /// The options that select the repository in the folder, whatever work tree its configuration names.
  private var placeOptions: [String] {
    if isBare { return ["--git-dir=\(folder)"] }
    return isInWorkTree ? ["--work-tree=\(folder)"] : []
  }

  /// The environment for the commands that Keytree itself runs.
  private var environment: ProcessEnvironment {
    var environment = GitOptions.environment(outerEnvironment, connects: usesNetwork)
    if seesQuarantine {
      for name in GitOptions.quarantine { environment.take(name, from: outerEnvironment) }
    }
    if takesPathsLiterally { environment.set("GIT_LITERAL_PATHSPECS", to: "1") }
    if asksPerson { environment.remove("GIT_TERMINAL_PROMPT") }
    environment.set("GIT_CEILING_DIRECTORIES", to: Self.parent(of: folder))
    return environment
  }

  /// Returns the parent folder of a path.
  package static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Returns the command in the arguments, which settings may precede.
  private static func command(in arguments: [String]) -> String {
    var rest = arguments[...]
    while rest.first == "-c" { rest = rest.dropFirst(2) }
    return rest.first ?? ""
  }

  /// Returns the rest of the line between the quotation marks after a text; nil if the message does not contain it.
  private static func quoted(in message: String, after text: String) -> String? {
    for line in message.split(separator: "\n") {
      let parts = line.split(separator: "'", maxSplits: 1)
      if parts.count == 2, parts[0].hasSuffix(text), parts[1].hasSuffix("'") {
        return String(parts[1].dropLast())
      }
    }
    return nil
  }

  /// Returns the path of a lock file; nil if the message names none.
  private static func lock(in message: String) -> String? {
    let parts = message.split(separator: "'", omittingEmptySubsequences: false)
    return parts.first { $0.hasSuffix(".lock") }.map(String.init)
  }
}
