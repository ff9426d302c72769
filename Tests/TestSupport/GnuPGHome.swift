import CSystem
import Foundation
import Glibc
import KeyringModel
package import OpenPGP

/// A GnuPG home for one test: short path, own agent, gone when the test is over.
///
/// The path is short because socket names end at 108 bytes.
package final class GnuPGHome: Sendable {
  /// The folder that holds everything: `home` (the user's GnuPG home), `run` (for engine homes).
  package let folder: String
  private let searchPath: String

  /// The user's GnuPG home.
  package var home: String { folder + "/home" }

  /// The names of the homes that engines have made; other files beside them are not theirs.
  package var engineHomes: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: locations.runtimeBase).filter { $0.count == 16 }
    }
  }

  /// What an engine needs to know. Several engines of one test share the runtime folder.
  package var locations: EngineLocations {
    EngineLocations(userHome: home, runtimeBase: folder + "/run", searchPath: searchPath)
  }

  /// Makes a home with secret keys in it.
  ///
  /// - Parameters:
  ///   - secret: Keys to import with their secret half. No agent is started when there are none.
  ///   - others: Keys to import without it.
  ///   - configuration: Lines for gpg.conf.
  ///   - agentConfiguration: Lines for gpg-agent.conf.
  package init(
    secret: [GnuPGKey] = [], public others: [GnuPGKey] = [], configuration: [String] = [],
    agentConfiguration: [String] = []
  ) throws {
    var template = Array("/tmp/ktXXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw GnuPGFailure(text: "no temporary folder") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for name in ["home", "run"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    // Import first: gpg.conf may hold what a test wants to break with.
    try write(["allow-loopback-pinentry"] + agentConfiguration, to: "gpg-agent.conf")
    let keys = secret.map(\.secretKey) + others.map(\.publicKey)
    if !keys.isEmpty {
      try run(["--pinentry-mode", "loopback", "--import"], input: Array(keys.joined()))
    }
    try write(configuration, to: "gpg.conf")
  }

  deinit { close() }

  /// Writes a configuration file of the user's home.
  ///
  /// - Parameters:
  ///   - lines: Its lines.
  ///   - name: Such as `gpg.conf`.
  package func write(_ lines: [String], to name: String) throws {
    let text = lines.map { $0 + "\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(home)/\(name)"))
  }

  /// Runs gpg in the user's home and takes what it writes.
  ///
  /// - Parameters:
  ///   - arguments: Without `--homedir`, which is added, as are options for a run without questions.
  ///   - input: What it reads.
  /// - Returns: What it wrote to its standard output.
  /// - Throws: `GnuPGFailure` when it fails.
  @discardableResult
  package func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    try GnuPGTool.run(
      "gpg", ["--homedir", home, "--batch", "--quiet", "--no-tty", "--yes"] + arguments, input: input)
  }

  /// Encrypts with plain gpg, as someone else's program would.
  ///
  /// - Parameters:
  ///   - bytes: The plaintext.
  ///   - recipients: Who can read it.
  ///   - options: More options of gpg.
  ///   - namesRecipients: Whether the message names its recipients inside, as those of a store do.
  /// - Returns: What gpg wrote.
  package func encrypt(
    _ bytes: [UInt8], to recipients: [GnuPGKey], options: [String] = [], namesRecipients: Bool = true
  ) throws -> [UInt8] {
    let people = recipients.flatMap { ["--recipient", $0.fingerprint.text] }
    let arguments = ["--trust-model", "always"] + options + people + ["--encrypt"]
    let message = try run(arguments, input: bytes)
    // Some options make what is not a message of a store.
    let header = unsafe message.span.bytes.withUnsafeBytes {
      try? unsafe MessageHeader.parse($0, limit: .max)
    }
    guard namesRecipients, let ids = header?.recipients else { return message }
    return try run(["--set-filename", RecipientName.of(ids)] + arguments, input: bytes)
  }

  /// Stops the agent of the user's home; the next program that needs it starts it again.
  package func stopAgent() {
    // A home without an agent has nothing to stop.
    _ = try? GnuPGTool.run("gpgconf", ["--homedir", home, "--kill", "all"])
    // The agent says goodbye before it goes.
    guard let line = try? GnuPGTool.run("gpgconf", ["--homedir", home, "--list-dirs", "agent-socket"]) else {
      return
    }
    let socket = String(decoding: line.dropLast(), as: UTF8.self)
    for _ in 0..<200 where unsafe keytree_connect_local(socket) == 0 { usleep(10_000) }
  }

  /// Stops the agent and removes everything.
  package func close() {
    guard FileManager.default.fileExists(atPath: folder) else { return }
    stopAgent()
    // Nothing can be done about a folder in use; it is in /tmp.
    try? FileManager.default.removeItem(atPath: folder)
  }
}

/// Runs programs of GnuPG for tests.
package enum GnuPGTool {
  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - name: The program, looked for along the search path.
  ///   - arguments: Its arguments.
  ///   - input: What it reads.
  /// - Returns: What it wrote to its standard output.
  /// - Throws: `GnuPGFailure` with its standard error when its exit status is not 0.
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
    // Written and read at once, or two full pipes would wait for each other.
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

/// A program of GnuPG failed in a test.
package struct GnuPGFailure: Error, CustomStringConvertible {
  /// What happened.
  package let text: String
  /// The same.
  package var description: String { text }
}
