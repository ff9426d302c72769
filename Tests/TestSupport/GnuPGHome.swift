import Foundation
import Glibc
import KeyringModel
package import OpenPGP

/// A GnuPG home for one test, with a short path and its own agent. It is removed when the test is over.
///
/// The path is short because socket names end at 108 bytes.
package final class GnuPGHome: Sendable {
  /// The folder that contains `home` (the user's GnuPG home) and `run` (for engine homes).
  package let folder: String
  private let searchPath: String

  /// The user's GnuPG home.
  package var home: String { folder + "/home" }

  /// The names of the homes that engines have created. Other files in that folder are not engine homes.
  package var engineHomes: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: locations.runtimeBase).filter { $0.count == 16 }
    }
  }

  /// The locations that an engine needs. All engines of a test share the runtime folder.
  package var locations: EngineLocations {
    EngineLocations(userHome: home, runtimeBase: folder + "/run", searchPath: searchPath)
  }

  /// Creates a home and imports keys.
  ///
  /// - Parameters:
  ///   - secret: Keys to import with their secret half. If there are none, no agent is started.
  ///   - others: Keys to import without their secret half.
  ///   - configuration: Lines for gpg.conf.
  ///   - agentConfiguration: Lines for gpg-agent.conf.
  package init(
    secret: [GnuPGKey] = [], public others: [GnuPGKey] = [], configuration: [String] = [],
    agentConfiguration: [String] = []
  ) throws {
    FreedMemory.release()
    var template = Array("\(ScratchFolder.base)/ktXXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
      throw GnuPGFailure(text: "cannot create a temporary folder")
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for name in ["home", "run"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    // Import before gpg.conf exists: a test may put lines into it that make gpg fail.
    try configureAgent(["allow-loopback-pinentry"] + agentConfiguration)
    let keys = secret.map(\.secretKey) + others.map(\.publicKey)
    if !keys.isEmpty {
      try run(["--pinentry-mode", "loopback", "--import"], input: Array(keys.joined()))
    }
    try write(configuration, to: "gpg.conf")
  }

  deinit { close() }

  /// Replaces the configuration of the agent. An agent that is running reads it after ``stopAgent()``.
  ///
  /// - Parameter lines: All lines of gpg-agent.conf, except for `s2k-count`.
  package func configureAgent(_ lines: [String]) throws {
    // With GnuPG's own count, each use of a key with a passphrase takes 0.1 s.
    try write(["s2k-count 65536"] + lines, to: "gpg-agent.conf")
  }

  /// Writes a configuration file of the user's home.
  ///
  /// - Parameters:
  ///   - lines: Its lines.
  ///   - name: The name of the file, such as `gpg.conf`.
  package func write(_ lines: [String], to name: String) throws {
    let text = lines.map { $0 + "\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(home)/\(name)"))
  }

  /// Runs gpg in the user's home and returns its output.
  ///
  /// - Parameters:
  ///   - arguments: The arguments without `--homedir`, which is added, as are options for a run without prompts.
  ///   - input: The standard input.
  /// - Returns: The standard output.
  /// - Throws: `GnuPGFailure` if gpg fails.
  @discardableResult
  package func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    try GnuPGTool.run(
      "gpg", ["--homedir", home, "--batch", "--quiet", "--no-tty", "--yes"] + arguments, input: input)
  }

  /// Encrypts with plain gpg, as another program would.
  ///
  /// - Parameters:
  ///   - bytes: The plaintext.
  ///   - recipients: The keys that can decrypt the message.
  ///   - options: More options of gpg.
  ///   - namesRecipients: True if the message names its recipients inside, as the messages of a store do.
  /// - Returns: The output of gpg.
  package func encrypt(
    _ bytes: [UInt8], to recipients: [GnuPGKey], options: [String] = [], namesRecipients: Bool = true
  ) throws -> [UInt8] {
    let people = recipients.flatMap { ["--recipient", $0.fingerprint.text] }
    let arguments = ["--trust-model", "always"] + options + people + ["--encrypt"]
    let message = try run(arguments, input: bytes)
    // With some options, the output is not a message that a store accepts.
    let header = unsafe message.span.bytes.withUnsafeBytes {
      try? unsafe MessageHeader.parse($0, limit: .max)
    }
    guard namesRecipients, let ids = header?.recipients else { return message }
    return try run(["--set-filename", RecipientName.of(ids)] + arguments, input: bytes)
  }

  /// Stops the agent of the user's home; the next program that needs it starts it again.
  package func stopAgent() {
    if AgentSocket.kill(at: "\(home)/S.gpg-agent") { return }
    // GnuPG has the sockets elsewhere if the user has a folder for them below /run. This fails if the home has no agent.
    _ = try? GnuPGTool.run("gpgconf", ["--homedir", home, "--kill", "all"])
    // The agent answers before it exits, so wait until its socket refuses connections.
    guard let line = try? GnuPGTool.run("gpgconf", ["--homedir", home, "--list-dirs", "agent-socket"]) else {
      return
    }
    let socket = String(decoding: line.dropLast(), as: UTF8.self)
    for _ in 0..<200 where LocalConnection.isPossible(to: socket) { usleep(10_000) }
  }

  /// Stops the agent and removes everything.
  package func close() {
    guard FileManager.default.fileExists(atPath: folder) else { return }
    stopAgent()
    // A folder in use cannot be removed; it is temporary.
    try? FileManager.default.removeItem(atPath: folder)
  }
}

/// Runs programs of GnuPG for tests.
package enum GnuPGTool {
  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - name: The program, which is searched for in the search path.
  ///   - arguments: Its arguments.
  ///   - input: The standard input.
  /// - Returns: The standard output.
  /// - Throws: `GnuPGFailure` with the standard error if the exit status is not 0.
  @discardableResult
  package static func run(_ name: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let (source, target, problems) = (Pipe(), Pipe(), Pipe())
    process.standardInput = source
    process.standardOutput = target
    process.standardError = problems
    try process.run()
    // Input and output are handled concurrently; otherwise both processes could block on a full pipe.
    let writer = Thread {
      try? source.fileHandleForWriting.write(contentsOf: Data(input))
      try? source.fileHandleForWriting.close()
    }
    let collected = Collected()
    let reader = Thread { collected.finish(problems.fileHandleForReading.readDataToEndOfFile()) }
    writer.start()
    reader.start()
    let output = target.fileHandleForReading.readDataToEndOfFile()
    let errors = collected.wait()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw GnuPGFailure(text: "\(name) \(arguments): \(String(decoding: errors, as: UTF8.self))")
    }
    return Array(output)
  }

  private final class Collected: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var data = Data()

    func finish(_ data: Data) {
      self.data = data
      done.signal()
    }

    func wait() -> Data {
      done.wait()
      return data
    }
  }
}

/// The error of a GnuPG program that failed in a test.
package struct GnuPGFailure: Error, CustomStringConvertible {
  /// The message.
  package let text: String
  /// The message.
  package var description: String { text }
}
