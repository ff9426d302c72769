internal import Arguments
internal import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// One command of `security`: its name, its letters, and what it does.
struct SecurityCommand: Sendable {
  let name: String
  /// Its letters as getopt(3) has them.
  let letters: String
  /// Letters with a value that is a secret.
  let secrets: String
  /// The usage, after the name; several lines if letters need an explanation.
  let usage: String
  /// The effect, one sentence.
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

/// A command line of `security`, read, with the world it was typed in.
struct SecurityCall {
  let command: SecurityCommand
  let options: SecurityOptions
  /// The way to the store, which is that of the commands of `keytree`.
  let call: CommandCall

  var console: Console { call.console }

  /// The store, in the place of a keychain file.
  func keychain() throws -> String {
    try securityCall("SecKeychainCopySearchList") { try call.storePath() }
  }

  /// The searchable attributes of all items.
  func openIndex() throws -> Index {
    try securityCall("SecKeychainOpen") { try call.openIndex() }
  }

  /// The whole store.
  func openKeyring() throws -> Keyring {
    try securityCall("SecKeychainOpen") { try call.openKeyring() }
  }

  /// Refuses a command line with more than one operand, or an empty one: the name of a keychain file, which is
  /// accepted and not looked at.
  func requireOneKeychain() throws {
    guard let first = options.operands.first else { return }
    if options.operands.count > 1 || first.isEmpty { throw SecurityFailure.usage }
  }

  /// Says something beside the data.
  func note(_ line: String) { console.say("security: \(line)") }
}
