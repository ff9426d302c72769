import Foundation
import TestSupport

/// The built command, run as a process in a home of its own: GnuPG home, store, state, all in one scratch folder.
final class ProcessesProgram: Sendable {
  /// The GnuPG home of the person.
  let gnupg: GnuPGHome

  /// What a process did.
  struct Outcome: Sendable {
    /// The exit status; negative when a signal ended it.
    let status: Int32
    /// Its standard output.
    let output: [UInt8]
    /// Its standard error, as text.
    let errors: String

    /// Its standard output, as text.
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Makes a home with a person's key, Alice's when no other is given, and no store yet.
  init(_ key: GnuPGKey = .alice) throws {
    gnupg = try GnuPGHome(secret: [key])
    for name in ["state", "data"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
  }

  /// The folder that holds everything.
  var folder: String { gnupg.folder }
  /// The store that the command uses.
  var store: String { "\(folder)/store" }

  /// Makes a home with a store in it that has these items.
  static func withStore(_ items: KeyValuePairs<String, String> = [:]) throws -> ProcessesProgram {
    let program = try ProcessesProgram()
    try program.succeed(["init", "--no-git"])
    for (item, secret) in items { try program.succeed(["add", item], input: secret) }
    return program
  }

  /// The command, in the folder of the test program.
  static var path: String {
    // Not argument 0, which may be relative.
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("keytree").path
  }

  /// A tracer that ends a command which waits forever.
  static let watchdog = ["/usr/bin/timeout", "-s", "KILL", "20"]

  /// Runs the command.
  ///
  /// - Parameters:
  ///   - arguments: Its arguments.
  ///   - input: What it reads.
  ///   - tracer: A program and its arguments that run it, such as strace.
  ///   - variables: More variables of its environment.
  ///   - onTerminal: Whether it gets a terminal of its own, by script(1).
  func run(
    _ arguments: [String], input: String = "", tracer: [String] = [], variables: [String: String] = [:],
    onTerminal: Bool = false
  ) throws -> Outcome {
    try run(
      words: tracer + [Self.path] + arguments, input: input, variables: variables, onTerminal: onTerminal)
  }

  /// Runs git as the person would, with her own variables.
  ///
  /// - Returns: What it printed.
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
  ///   - files: Mode, path and content of each; all of them fit into a pipe.
  ///   - removed: The paths of files that go.
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

  /// Runs git as the person would, however it ends.
  func outcome(ofGit arguments: [String], in folder: String) throws -> Outcome {
    try run(words: ["/usr/bin/git", "-C", folder] + arguments)
  }

  /// The lines that any program prints, run as the person would.
  func lines(of words: [String]) throws -> [String] {
    try run(words: words).text.split(separator: "\n").map(String.init)
  }

  /// Variables that every process sees.
  var variables: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder,
      "GNUPGHOME": gnupg.home, "XDG_RUNTIME_DIR": "\(folder)/run", "XDG_STATE_HOME": "\(folder)/state",
      "XDG_DATA_HOME": "\(folder)/data", "KEYTREE_STORE": store,
    ]
  }

  /// Runs any program as the person would.
  func run(
    words: [String], input: String = "", variables: [String: String] = [:], onTerminal: Bool = false
  ) throws -> Outcome {
    var words = words
    if onTerminal {
      // None of the words has a quote in it.
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
    // Small enough for the pipes; a command that reads nothing may be gone by now, which is no error.
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

  /// Runs a command that has to succeed, and takes what it prints.
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

/// Watching what processes do.
enum ProcessesTracer {
  /// strace, where it is installed and may read the arguments of calls.
  ///
  /// The command forbids others to look into it (`PR_SET_DUMPABLE`), so strace needs root's capabilities.
  static let strace: String? = {
    guard geteuid() == 0 else { return nil }
    return ["/usr/bin/strace", "/usr/local/bin/strace"].first { path in
      (try? GnuPGTool.run(path, ["-o", "/dev/null", "true"])) != nil
    }
  }()

  /// Why tests with strace are skipped.
  static let reason = "strace is not installed, may not trace here, or this is not root"
}

/// A run of the command that should have succeeded did not.
struct ProcessesFailure: Error, CustomStringConvertible {
  /// What happened.
  let description: String
}
