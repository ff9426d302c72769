import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import Terminal
import TestSupport

/// A user with keys, their own environment, and the program, which runs in this process.
final class MaintenanceFixture {
  let gnupg: GnuPGHome
  let scratch = ScratchFolder()
  var variables: [String: String]

  var store: String { scratch.path + "/store" }

  init(_ keys: [GnuPGKey] = [.alice]) throws {
    gnupg = try GnuPGHome(secret: keys)
    variables = [
      "HOME": scratch.path, "GNUPGHOME": gnupg.home, "XDG_RUNTIME_DIR": gnupg.folder + "/run",
      "KEYTREE_STORE": scratch.path + "/store",
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
    ]
  }

  deinit { gnupg.close() }

  /// The result of a command.
  struct Answer {
    let code: ExitCode
    let bytes: [UInt8]
    let talk: String
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  /// Runs a command.
  @discardableResult
  func run(_ words: String..., input: [UInt8] = []) -> Answer { run(words, input: input) }

  /// Runs a command.
  @discardableResult
  func run(_ words: [String], input: [UInt8] = []) -> Answer {
    let memory = MemoryConsole([String(decoding: input, as: UTF8.self)], endsWithLineFeed: false)
    // These commands handle signals, as does the editor in another test.
    let handlesSignals = ["git", "verify", "demo"].contains(words.first)
    if handlesSignals { SignalTestLock.begin() }
    defer { if handlesSignals { SignalTestLock.end() } }
    let code = Program.run(
      words.map { Word($0) }, environment: Environment(variables), console: memory.console)
    return Answer(code: code, bytes: memory.output.bytes, talk: memory.talk.text)
  }

  /// Replaces the store with a copy of a golden store. Only the owner can read the copy, unlike the files of a
  /// checkout.
  func useStore(_ name: String) throws {
    let source = CareTranscriptTests.fixtures.appendingPathComponent("stores/\(name)").path
    try? FileManager.default.removeItem(atPath: store)  // The first call finds no store.
    try FileManager.default.copyItem(atPath: source, toPath: store)
    for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: store) {
      let path = store + "/" + name
      let facts = try FileManager.default.attributesOfItem(atPath: path)
      guard facts[.type] as? FileAttributeType == .typeDirectory else { continue }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }
  }
}

/// The built program, for behaviour that is only visible from outside the process.
enum BuiltProgram {
  /// The path of the program, which is next to the test bundle.
  static var path: String {
    let tests = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("keytree").path
  }

  /// Starts the program.
  static func start(
    _ arguments: [String], environment: [String: String], output: Any?, errors: Any? = FileHandle.nullDevice
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return process
  }
}
