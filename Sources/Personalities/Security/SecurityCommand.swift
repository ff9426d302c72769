internal import Arguments
internal import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// One command of `security`: its name, its option letters, and its implementation.
struct SecurityCommand: Sendable {
  let name: String
  /// The option letters, in the notation of getopt(3).
  let letters: String
  /// The letters whose value is a secret.
  let secrets: String
  /// The usage, without the name; several lines if letters need an explanation.
  let usage: String
  /// The usage with the name, for output.
  var usageLines: [String] {
    "Usage: \(name) \(usage)".split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }
  /// The effect, in one sentence.
  let summary: String
  /// A Boolean value that indicates whether it may change the store.
  let writes: Bool
  let run: @Sendable (SecurityCall) throws -> Void

  init(
    _ name: String, _ letters: String, secrets: String = "", usage: String, _ summary: String,
    writes: Bool = false,
    run: @escaping @Sendable (SecurityCall) throws -> Void
  ) {
    self.name = name
    self.letters = letters
    self.secrets = secrets
    self.usage = usage
    self.summary = summary
    self.writes = writes
    self.run = run
  }
}

/// A parsed command line of `security`, with its environment and console.
struct SecurityCall {
  let command: SecurityCommand
  let options: SecurityOptions
  /// The call that opens the store, as for the commands of `keytree`.
  let call: CommandCall

  var console: Console { call.console }

  /// Returns the path of the store, which represents the keychain file.
  func keychain() throws -> String {
    try securityCall("SecKeychainCopySearchList") { try call.storePath() }
  }

  /// Opens the index, which contains the searchable attributes of all items.
  func openIndex() throws -> Index {
    try securityCall("SecKeychainOpen") { try call.openIndex() }
  }

  /// Opens the store.
  func openKeyring() throws -> Keyring {
    try securityCall("SecKeychainOpen") { try call.openKeyring() }
  }

  /// Checks that there is at most one operand, and that it is not empty. The operand is the name of a keychain file,
  /// which is accepted and ignored.
  func requireOneKeychain() throws {
    guard let first = options.operands.first else { return }
    if options.operands.count > 1 || first.isEmpty { throw SecurityFailure.usage }
  }

  /// Writes a note to standard error.
  func note(_ line: String) { console.say("security: \(line)") }
}
