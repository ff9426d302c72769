import Foundation
import TestSupport

/// The built command, run as a process with its own home: GnuPG home, store and state are all in one scratch folder.
final class ProcessesProgram: Sendable {
  /// The GnuPG home of the user.
  let gnupg: GnuPGHome

  /// The result of a process.
  struct Outcome: Sendable {
    /// The exit status; negative if a signal ended the process.
    let status: Int32
    /// Its standard output.
    let output: [UInt8]
    /// Its standard error, as text.
    let errors: String

    /// Its standard output, as text.
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Creates a home with the user's key, by default Alice's, and without a store.
  init(_ key: GnuPGKey = .alice) throws {
    gnupg = try GnuPGHome(secret: [key])
    for name in ["state", "data"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
  }

  /// The folder that contains the home.
  var folder: String { gnupg.folder }
  /// The store that the command uses.
  var store: String { "\(folder)/store" }

  /// Returns a program whose home has a store with these items.
  static func withStore(_ items: KeyValuePairs<String, String> = [:]) throws -> ProcessesProgram {
    let program = try ProcessesProgram()
    try program.succeed(["init", "--no-git"])
    for (item, secret) in items { try program.succeed(["add", item], input: secret) }
    return program
  }

  /// The path of the command, which is in the folder of the test program.
  static var path: String {
    // Argument 0 is not used, because it can be relative.
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("keytree").path
  }

  /// A tracer that kills a command after 20 seconds.
  static let watchdog = ["/usr/bin/timeout", "-s", "KILL", "20"]

  /// Runs the command.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the command.
  ///   - input: The standard input.
  ///   - tracer: A program with arguments that runs the command, such as strace.
  ///   - variables: Additional environment variables.
  ///   - onTerminal: True to run the command on a new terminal, with script(1).
  func run(
    _ arguments: [String], input: String = "", tracer: [String] = [], variables: [String: String] = [:],
    onTerminal: Bool = false
  ) throws -> Outcome {
    try run(
      words: tracer + [Self.path] + arguments, input: input, variables: variables, onTerminal: onTerminal)
  }

  /// Runs git as the user would, with their own variables.
  ///
  /// - Returns: The output of git.
  @discardableResult
  func git(_ arguments: [String], in folder: String? = nil, status: Int32 = 0) throws -> String {
    let person = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
    let outcome = try run(words: ["/usr/bin/git", "-C", folder ?? store] + person + arguments)
    guard outcome.status == status else {
      throw ProcessesFailure(
        description: "git \(arguments): exit \(outcome.status): \(outcome.text)\(outcome.errors)")
    }
    return outcome.text
  }

  /// Commits files to the branch `main` of a bare repository, as a push does.
  ///
  /// - Parameters:
  ///   - files: The mode, path and content of each file; together they must fit into a pipe.
  ///   - removed: The paths of the files to remove.
  ///   - hub: The repository.
  func push(
    _ files: [(mode: String, path: String, content: String)], removing removed: [String] = [],
    to hub: String
  ) throws {
    var stream =
      "commit refs/heads/main\ncommitter X <x@example.org> 1 +0000\ndata 1\nx\nfrom refs/heads/main^0\n"
    for path in removed { stream += "D \(path)\n" }
    for (mode, path, content) in files {
      stream += "M \(mode) inline \(path)\ndata \(content.utf8.count)\n\(content)\n"
    }
    let outcome = try run(
      words: ["/usr/bin/git", "-C", hub, "fast-import", "--quiet", "--done"], input: stream + "\ndone\n")
    guard outcome.status == 0 else { throw ProcessesFailure(description: outcome.errors) }
  }

  /// Runs git as the user would, and returns the outcome even if it fails.
  func outcome(ofGit arguments: [String], in folder: String) throws -> Outcome {
    try run(words: ["/usr/bin/git", "-C", folder] + arguments)
  }

  /// Returns the lines that a program prints when it runs as the user would run it.
  func lines(of words: [String]) throws -> [String] {
    try run(words: words).text.split(separator: "\n").map(String.init)
  }

  /// Variables that every process has.
  var variables: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder,
      "GNUPGHOME": gnupg.home, "XDG_RUNTIME_DIR": "\(folder)/run", "XDG_STATE_HOME": "\(folder)/state",
      "XDG_DATA_HOME": "\(folder)/data", "KEYTREE_STORE": store,
    ]
  }

  /// Runs a program as the user would.
  func run(
    words: [String], input: String = "", variables: [String: String] = [:], onTerminal: Bool = false
  ) throws -> Outcome {
    var words = words
    if onTerminal {
      // The words must not contain single quotes.
      words = ["/usr/bin/script", "-qec", words.map { "'\($0)'" }.joined(separator: " "), "/dev/null"]
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.environment = self.variables.merging(variables) { $1 }
    let (source, target, problems) = (Pipe(), Pipe(), Pipe())
    process.standardInput = source
    process.standardOutput = target
    process.standardError = problems
    try process.run()
    // The input fits into the pipe. A command that reads nothing may have ended already, which is no error.
    try? source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try? source.fileHandleForWriting.close()
    let output = target.fileHandleForReading.readDataToEndOfFile()
    let errors = problems.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let isExit = process.terminationReason == .exit
    return Outcome(
      status: isExit ? process.terminationStatus : -process.terminationStatus, output: Array(output),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// Runs a command that must succeed, and returns its output.
  @discardableResult
  func succeed(
    _ arguments: [String], input: String = "", tracer: [String] = [], variables: [String: String] = [:]
  ) throws -> String {
    let outcome = try run(arguments, input: input, tracer: tracer, variables: variables)
    guard outcome.status == 0 else {
      throw ProcessesFailure(description: "keytree \(arguments): exit \(outcome.status): \(outcome.errors)")
    }
    return outcome.text
  }
}

/// The tools that trace processes.
enum ProcessesTracer {
  /// The path of strace, if it is installed and can read the arguments of system calls.
  ///
  /// The command forbids other processes to trace it (`PR_SET_DUMPABLE`), so strace needs the capabilities of root.
  static let strace: String? = {
    guard geteuid() == 0 else { return nil }
    return ["/usr/bin/strace", "/usr/local/bin/strace"].first { path in
      (try? GnuPGTool.run(path, ["-o", "/dev/null", "true"])) != nil
    }
  }()

  /// The reason why tests with strace are skipped.
  static let reason = "strace is not installed, may not trace here, or this is not root"
}

/// An error for a command that should have succeeded.
struct ProcessesFailure: Error, CustomStringConvertible {
  /// The description of the failure.
  let description: String
}
