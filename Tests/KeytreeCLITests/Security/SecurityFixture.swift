import Arguments
import Foundation
import KeyringModel
import Personalities
import Secrets
import TestSupport
@testable import Keyring
@testable import KeytreeCLI
@testable import Terminal

/// A user with a store who runs `security` in this process.
struct SecurityFixture {
  let world: CommandFixture

  init(keys: [GnuPGKey] = [.alice]) throws { world = try CommandFixture(keys: keys) }

  private init(_ world: CommandFixture) { self.world = world }

  /// Returns a store without GnuPG and without git, for tests of commands that are not about them.
  static func withoutGnuPG() throws -> SecurityFixture { SecurityFixture(try .withoutGnuPG()) }

  /// The result of a command.
  struct Result {
    let status: Int32
    let bytes: [UInt8]
    let talk: String

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the printed value of an attribute, without its type.
    func value(_ tag: String) -> String? {
      for line in text.split(separator: "\n") where line.hasPrefix("    \(tag)") {
        return line.split(separator: "=", maxSplits: 1).last.map(String.init)
      }
      return nil
    }
  }

  /// The warning of `security` when a password is among its arguments.
  static let warning =
    "security: warning: a password in the arguments is visible to every user of this machine; `security -i` "
    + "reads commands from standard input\n"

  /// The message of `security` when nothing matches.
  static let notFound =
    "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.\n"

  @discardableResult
  func security(
    _ words: String..., input: [UInt8] = [], isTerminal: Bool = false, more: [String: String] = [:]
  ) -> Result {
    run(words.map { Word($0) }, input: input, isTerminal: isTerminal, more: more)
  }

  /// Runs `security -i` on lines.
  func script(_ text: String, _ flags: String...) -> Result {
    run((["-i"] + flags).map { Word($0) }, input: Array(text.utf8))
  }

  func run(
    _ words: [Word], input: [UInt8] = [], isTerminal: Bool = false, more: [String: String] = [:]
  ) -> Result {
    let output = MemoryOutput(isTerminal: isTerminal, columns: 80)
    let talk = MemoryOutput(isTerminal: isTerminal, columns: 80)
    let console = Console(
      input: BytesInput(input, isTerminal: isTerminal, screen: talk), output: output, talk: talk)
    let status = Program.status(
      of: words, calledAs: .security, environment: Environment(world.variables.merging(more) { $1 }),
      console: console, engine: world.engine)
    return Result(status: status, bytes: output.bytes, talk: talk.text)
  }

  /// Stores an item of any class.
  func add(_ itemClass: ItemClass, _ attributes: Attributes, _ secret: [UInt8]) throws {
    let keyring = try Keyring.open(at: world.store, host: host)
    let bytes = SecretBytes(copying: secret)
    try keyring.add(NewItem(itemClass: itemClass, attributes: attributes), secret: bytes)
  }

  /// Returns the only item with an account.
  func record(account: String) throws -> ItemRecord? {
    let query = Query(predicates: [.equal(.account, .string(account))])
    return try Index.open(at: world.store, host: host).find(query).items.first
  }

  private var host: HostContext {
    var host = HostContext(
      gnupgHome: world.variables["GNUPGHOME"],
      engineBase: (world.variables["XDG_RUNTIME_DIR"] ?? "") + "/keytree",
      stateBase: (world.variables["XDG_STATE_HOME"] ?? "") + "/keytree",
      searchPath: world.variables["PATH"] ?? "/usr/bin:/bin", interaction: .never, workers: 0)
    host.engineFactory = world.engine
    return host
  }

  /// The number of commits in the history of the store.
  var commits: Int {
    let count = try? GnuPGTool.run("git", ["-C", world.store, "rev-list", "--count", "HEAD"])
    let digits = String(decoding: count ?? [], as: UTF8.self).filter(\.isNumber)
    return Int(digits) ?? -1
  }
}
