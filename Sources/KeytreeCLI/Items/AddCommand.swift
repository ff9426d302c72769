internal import Arguments
internal import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// `keytree add`: stores a new secret.
enum AddCommand: Command {
  static let history = HistoryUse.after
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, help: "`container/account` or `container`; options can stand for it")
  static let generate = OptionDeclaration(
    "generate",
    .optional(ValueDeclaration("N", .integer(SecretGenerator.lengths))),
    help: "make the secret by chance, \(SecretGenerator.defaultLength) or N characters")
  static let update = OptionDeclaration(
    "update", help: "when the item exists, replace its secret and set the attributes given")
  static let local = OptionDeclaration("local", help: "keep the item on this machine, out of git")

  static let declaration = CommandDeclaration(
    name: "add", summary: "store a new secret",
    details: [
      "On a terminal the secret is asked for, twice. Otherwise it is all of standard input, to the last "
        + "byte: a line feed at its end belongs to it. It is never an argument.",
      "A new item is an internet password; `generic:` in front of its name, or `--service`, makes it a "
        + "generic one. A name is split at its first `/`; an account that holds `/` is fine, a server that "
        + "does is given with `--server`.",
      "With `--field` the secret becomes a field of the item: it has its server, account and the rest of its primary "
        + "key, and it is in its group unless `--group` names another one. The item need not be there.",
      "An item exists when one has the same class and primary key, which for an internet password is account, "
        + "server, protocol, port, path, security domain and kind of authentication, for a generic one account "
        + "and service. An empty secret is refused, and one of more than 1 MiB.",
    ],
    operands: [item], options: [AttributeOptions.field, generate, update, local] + AttributeOptions.all,
    examples: [
      Example("keytree add github.com/alice", "asks for the secret, twice"),
      Example("keytree add github.com/alice --generate -l GitHub", "makes a secret of 24 characters"),
      Example("printf %s \"$TOKEN\" | keytree add generic:mailer/bot", "takes it from standard input"),
    ],
    exitCodes: [3, 5, 9, 10, 11, 12])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let storage = try NewItemStorage(
      call, mayReplace: call.arguments.has(update), isLocal: call.arguments.has(local))
    guard call.arguments.has(generate) else {
      try storage.store(try call.console.newSecret(for: storage.name, limit: StoreLayout.secretLimit))
      return .done
    }
    let length = call.arguments.integer(generate) ?? SecretGenerator.defaultLength
    try storage.storeGenerated(by: SecretGenerator(.characters(.standard, length: length)), call)
    return .done
  }
}

extension NewItemStorage {
  /// Stores a generated secret and reports its strength.
  ///
  /// - Parameters:
  ///   - generator: the generator of the secret.
  ///   - call: the command line, whose console gets the report.
  ///   - clipboard: a clipboard that also gets the secret, once it is stored.
  func storeGenerated(
    by generator: SecretGenerator, _ call: CommandCall, clipboard: ClipboardTarget? = nil
  ) throws {
    var random = SystemRandomNumberGenerator()
    let secret = generator.make(using: &random)
    try store(secret)
    call.console.say("The secret has \(generator.explanation).")
    try clipboard?.deliver(secret, as: "the secret")
  }
}
