internal import FileSystem
package import Subprocess

/// Git in a folder: the program, its variables, and how it is run.
package struct Git: Sendable {
  /// The oldest version whose options are all known to work.
  package static let oldestVersion = (2, 38)
  /// The time limit of a command that uses no network.
  package static let usualTimeout = Duration.seconds(600)

  /// The absolute path of the program; nil when there is none, which shows when it is run.
  package let program: String?
  /// The variables of the person, from which those of git are made.
  package let outerEnvironment: ProcessEnvironment
  /// The top of the work tree.
  package var folder: String
  /// The time limit of a command; nil for none.
  package var timeout: Duration? = usualTimeout
  /// A Boolean value that indicates whether the folder is the top of a work tree. Otherwise git searches for
  /// a repository itself.
  package var isInWorkTree = true
  /// A Boolean value that indicates whether the folder is a bare repository.
  package var isBare = false
  /// A Boolean value that indicates whether git sees the objects of a push that no branch has yet, as a hook
  /// that judges the push needs.
  package var seesQuarantine = false
  /// A Boolean value that indicates whether paths are taken literally. Some commands do not support it.
  package var takesPathsLiterally = true
  /// The most bytes of memory that each process of a command may ask for; nil for any number.
  package var memoryLimit: Int?
  /// A Boolean value that indicates whether git may connect to other machines.
  package private(set) var usesNetwork = false
  /// A Boolean value that indicates whether git may ask the user at the terminal for the passphrase of an ssh
  /// key or for a password.
  private var asksPerson = false
  /// Options for talking to other machines.
  private var networkOptions: [String] = []

  /// Git in a folder.
  ///
  /// - Parameters:
  ///   - folder: An absolute path without links; git looks for a repository here and nowhere above.
  ///   - searchPath: Folders in which the program is looked for, as in `PATH`.
  ///   - environment: The variables of the person.
  package init(in folder: String, searchPath: String, environment: ProcessEnvironment) {
    program = ProgramSearch.path(of: "git", in: searchPath)
    (self.folder, outerEnvironment) = (folder, environment)
  }

  /// The most memory for receiving objects, in bytes. A pack of a hundred kilobytes can have objects of gigabytes,
  /// which
  /// git makes in memory (threat T46); a hundred thousand items with their history take a quarter of this.
  package static let receivingLimit = 512 << 20

  /// The time limit of a command that uses the network.
  package static let networkTimeout = Duration.seconds(300)

  /// The same git, which may talk to other machines.
  ///
  /// - Parameter asksPerson: Whether it may ask at the terminal; else it fails where it would have to.
  /// - Throws: as `run`.
  package func forNetwork(asksPerson: Bool) throws -> Git {
    var git = self
    git.usesNetwork = true
    git.asksPerson = asksPerson
    git.timeout = Self.networkTimeout
    if !asksPerson {
      // ssh asks at the terminal itself, whatever git was told.
      let command = try setting("core.sshCommand") ?? "ssh"
      git.networkOptions = ["-c", "core.sshCommand=\(command) -o BatchMode=yes"]
    }
    return git
  }

  /// Its version as it says itself, such as `2.39.5`.
  ///
  /// - Throws: `tooOld` for one that keytree does not rely on, and as `run`.
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

  /// Runs a command that has to succeed.
  ///
  /// - Parameters:
  ///   - arguments: The command and its arguments.
  ///   - input: What it reads.
  ///   - limit: The most bytes that it may print.
  /// - Returns: What it has printed.
  /// - Throws: every case of `GitError` that git itself can cause.
  @discardableResult
  package func run(
    _ arguments: [String], input: [UInt8] = [], limit: Int = 1 << 20
  ) throws -> [UInt8] {
    let outcome = try outcome(of: arguments, input: input, limit: limit)
    guard outcome.ending == .exited(status: 0) else { throw failure(arguments, outcome) }
    return outcome.output
  }

  /// Runs a command whose status is an answer.
  ///
  /// - Returns: How it ended, with any status.
  /// - Throws: `notInstalled`, `process`, `timedOut`, `killed`.
  package func outcome(
    of arguments: [String], input: [UInt8] = [], limit: Int = 1 << 20
  ) throws -> ProcessOutcome {
    guard let program else { throw GitError.notInstalled }
    var run = ProgramRun(
      program,
      placeOptions + GitOptions.fixed + (usesNetwork ? networkOptions : GitOptions.offline) + arguments,
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

  /// The most memory for making such a list, in bytes: `git diff-tree` has the whole list before it prints any of it.
  package static let listMemoryLimit = 256 << 20

  /// Runs a command that prints records, each ended by NUL.
  ///
  /// - Parameter limit: The most bytes that it may print.
  /// - Returns: The records, without NUL.
  /// - Throws: as `run`.
  package func records(
    _ arguments: [String], input: [UInt8] = [], limit: Int = listLimit
  ) throws -> [ArraySlice<UInt8>] {
    var git = self
    git.memoryLimit = Self.listMemoryLimit
    return try git.run(arguments, input: input, limit: limit).split(separator: 0)
  }

  /// The error that another status than 0 is.
  package func failure(_ arguments: [String], _ outcome: ProcessOutcome) -> GitError {
    let message = String(decoding: outcome.errors.prefix(4096), as: UTF8.self)
    let command = Self.command(in: arguments)
    guard case .exited(let status) = outcome.ending else { return .timedOut(command: command) }
    // With LC_ALL=C these are git's own words, unchanged for many versions.
    if message.contains("detected dubious ownership") { return .unsafeOwner(path: folder) }
    // The words of git itself, and those of zlib.
    if message.lowercased().contains("out of memory"), let memoryLimit {
      return .tooMuchMemory(command: command, limit: memoryLimit)
    }
    if message.contains("not a git repository") { return .notARepository(path: folder) }
    if message.contains(".lock': File exists") { return .locked(path: Self.quoted(in: message) ?? folder) }
    // The last word, unless that is only that nothing could be read: why is in the line above it, which ssh may have
    // written.
    var lines = message.split(separator: "\n")
    if let end = lines.firstIndex(where: { $0.contains("Could not read from remote repository") }), end > 0 {
      lines = [lines[end - 1]]
    }
    let words = lines.last { $0.hasPrefix("fatal: ") || $0.hasPrefix("error: ") } ?? lines.last ?? ""
    return .failed(command: command, status: status, message: String(words))
  }

  /// Runs a command for a person, with the streams and the terminal of this process.
  ///
  /// - Parameters:
  ///   - arguments: The command and its arguments, as they were typed.
  ///   - place: The folder to start in.
  ///   - pager: What shows long output, where a person reads it; nil where nobody does.
  /// - Returns: Git's own status; 128 and the signal for one that ended it, as shells have it.
  /// - Throws: `notInstalled`, `process`.
  package func runForPerson(
    _ arguments: [[UInt8]], in place: String, pager: String?
  ) throws -> Int32 {
    guard let program else { throw GitError.notInstalled }
    var environment = GitOptions.environmentForPerson(outerEnvironment)
    environment.set("GIT_CEILING_DIRECTORIES", to: Self.parent(of: folder))
    if let pager { environment.set("GIT_PAGER", to: pager) }
    let options = placeOptions + (pager == nil ? ["--no-pager"] : []) + GitOptions.forPerson
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

  /// The options that say which repository is meant: the one whose folder was entered, whatever work tree its own
  /// configuration names.
  private var placeOptions: [String] {
    if isBare { return ["--git-dir=\(folder)"] }
    return isInWorkTree ? ["--work-tree=\(folder)"] : []
  }

  /// The variables for our own use.
  private var environment: ProcessEnvironment {
    var environment = GitOptions.environment(outerEnvironment)
    if seesQuarantine {
      for name in GitOptions.quarantine { environment.take(name, from: outerEnvironment) }
    }
    if takesPathsLiterally { environment.set("GIT_LITERAL_PATHSPECS", to: "1") }
    if asksPerson { environment.remove("GIT_TERMINAL_PROMPT") }
    environment.set("GIT_CEILING_DIRECTORIES", to: Self.parent(of: folder))
    return environment
  }

  /// The folder above another one.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// The command among arguments, in front of which settings may stand.
  private static func command(in arguments: [String]) -> String {
    var rest = arguments[...]
    while rest.first == "-c" { rest = rest.dropFirst(2) }
    return rest.first ?? ""
  }

  private static func quoted(in message: String) -> String? {
    let parts = message.split(separator: "'", omittingEmptySubsequences: false)
    return parts.first { $0.hasSuffix(".lock") }.map(String.init)
  }
}
