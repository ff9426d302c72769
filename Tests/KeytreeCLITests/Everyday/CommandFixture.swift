import Arguments
import CommandSupport
import Foundation
import Keyring
import KeytreeCLI
import Secrets
import Terminal
import TestSupport

/// A user with a GnuPG home and a store, for tests of whole commands in this process.
final class CommandFixture {
  /// The result of a command.
  struct Result {
    let code: ExitCode
    let output: [UInt8]
    let talk: [UInt8]

    var text: String { String(decoding: output, as: UTF8.self) }
    var diagnosticsText: String { String(decoding: talk, as: UTF8.self) }
  }

  /// The store could not be created.
  struct NoStore: Error { let reason: String }

  let store: String
  let folder: TemporaryFolder
  /// The user's GnuPG home; nil without GnuPG.
  private let gnupg: GnuPGHome?
  /// The store without GnuPG, with an engine that starts no process and a repository that does not exist.
  let standIn: StandInStore?

  /// The user's GnuPG home.
  var home: GnuPGHome {
    guard let gnupg else { preconditionFailure("this fixture has no GnuPG") }
    return gnupg
  }

  /// Variables that every command sees.
  var variables: [String: String] {
    [
      "HOME": folder.path + "/home", "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "GNUPGHOME": gnupg?.home ?? "/nonexistent", "XDG_RUNTIME_DIR": (gnupg?.folder ?? folder.path) + "/run",
      "XDG_STATE_HOME": (standIn?.folder.path ?? folder.path) + "/state", "KEYTREE_STORE": store,
      "TERM": "xterm",
    ]
  }

  /// Creates the user's home and a store.
  init(keys: [GnuPGKey] = [.alice]) throws {
    folder = try TemporaryFolder()
    store = folder.path + "/store"
    gnupg = try GnuPGHome(secret: keys)
    standIn = nil
    let result = run("init", "--key", Word(keys[0].mail))
    guard result.code == .done else { throw NoStore(reason: result.diagnosticsText) }
  }

  /// Returns a store without GnuPG and without git, for tests of commands that are not about them.
  static func withoutGnuPG() throws -> CommandFixture { try CommandFixture(StandInStore()) }

  private init(_ standIn: StandInStore) throws {
    folder = try TemporaryFolder()
    gnupg = nil
    try standIn.create()
    store = standIn.path
    self.standIn = standIn
  }

  /// The engine without GnuPG; nil with GnuPG.
  var engine: EngineFactory? {
    guard let engine = standIn?.engine else { return nil }
    return { _, keys in engine.with(keys: keys) }
  }

  /// Runs a command with text instead of a terminal.
  func run(_ words: Word..., input: [UInt8] = [], isTerminal: Bool = false) -> Result {
    run(words, input: input, isTerminal: isTerminal)
  }

  func run(
    _ words: [Word], input: [UInt8] = [], isTerminal: Bool = false, isPiped: Bool = false,
    more: [String: String] = [:]
  ) -> Result {
    let output = MemoryOutput(isTerminal: isTerminal && !isPiped, columns: 80)
    let talk = MemoryOutput(isTerminal: isTerminal, columns: 80)
    let console = Console(
      input: BytesInput(input, isTerminal: isTerminal, screen: talk), output: output, talk: talk)
    let environment = Environment(variables.merging(more) { $1 })
    if words.first == "edit" { SignalTestLock.begin() }
    defer { if words.first == "edit" { SignalTestLock.end() } }
    let code = Program.run(words, environment: environment, console: console, engine: engine)
    return Result(code: code, output: output.bytes, talk: talk.bytes)
  }

  deinit { gnupg?.close() }
}

/// An input of arbitrary bytes; on a terminal each line answers one question.
final class BytesInput: ConsoleInput {
  let isTerminal: Bool
  private var rest: ArraySlice<UInt8>
  private let screen: MemoryOutput

  init(_ bytes: [UInt8], isTerminal: Bool, screen: MemoryOutput) {
    rest = bytes[...]
    self.isTerminal = isTerminal
    self.screen = screen
  }

  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes {
    _ = unsafe Array(prompt.utf8).withUnsafeBytes { unsafe screen.write($0) }
    return SecretBytes(copying: try line())
  }

  func readLine(unless _: Int32?) throws(SecretInputError) -> String {
    String(decoding: try line(), as: UTF8.self)
  }

  func readProgramLine(limit: Int) throws(SecretInputError) -> SecretBytes? {
    guard !rest.isEmpty else { return nil }
    return SecretBytes(copying: try line())
  }

  func readBytes(count: Int, within _: Double?) throws(SecretInputError) -> SecretBytes {
    defer { rest = rest.dropFirst(count) }
    return SecretBytes(copying: rest.prefix(count))
  }

  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes {
    defer { rest = [] }
    guard rest.count <= limit else { throw .tooLong(limit: limit) }
    return SecretBytes(copying: rest)
  }

  private func line() throws(SecretInputError) -> [UInt8] {
    guard !rest.isEmpty else { throw .endOfInput }
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    rest = rest.dropFirst(line.count + 1)
    return Array(line)
  }
}

extension String {
  /// The text with one blank between two words, however it is wrapped to a terminal.
  var unwrapped: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
