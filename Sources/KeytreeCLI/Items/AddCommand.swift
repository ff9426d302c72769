internal import Arguments
internal import CommandSupport
internal import Keyring
internal import Secrets
internal import Terminal

/// `keytree add`: stores a new secret.
enum AddCommand: Command {
  static let history = HistoryUse.after
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, help: "`container/account` or `container`; options can replace it")
  static let generate = OptionDeclaration(
    "generate",
    .optional(ValueDeclaration("N", .integer(SecretGenerator.lengths))),
    help: "generate a secret of \(SecretGenerator.defaultLength) or N characters")
  static let update = OptionDeclaration(
    "update", help: "if the item exists, replace its secret and set the given attributes")
  static let allowEmpty = OptionDeclaration("allow-empty", help: "accept an empty secret")
  static let local = OptionDeclaration("local", help: "keep the item only on this machine, not in git")

  static let declaration = CommandDeclaration(
    name: "add", aliases: ["insert"], summary: "store a new secret",
    details: [
      "On a terminal, it prompts twice for the secret. Otherwise the secret is all of standard input, including a "
        + "line feed at its end. The secret is never an argument.",
      "A new item is an internet password; `generic:` in front of its name, or `--service`, makes it a generic "
        + "password. A name is split at its first `/`; give a server that contains `/` with `--server`. "
        + "`host:port/account` and a URL give the port, the protocol and the path, too. Host names are stored in lower "
        + "case.",
      "With `--field`, the secret becomes a field of the item: it has the primary key of the item (server, account "
        + "and the rest), and it is in the item's group unless you give `--group`. The item does not have to exist.",
      "An item already exists if another item has the same class and primary key. The primary key of an internet "
        + "password is account, server, protocol, port, path, security domain and authentication type; that of a "
        + "generic password is account and service. If such an item exists in another group, the group must be given "
        + "with `--group`. An empty secret is refused without `--allow-empty`, and so is a secret of more than 1 MiB.",
    ],
    operands: [item],
    options: [AttributeOptions.field, generate, update, local, allowEmpty] + AttributeOptions.all,
    examples: [
      Example("keytree add github.com/alice", "prompts twice for the secret"),
      Example("keytree add github.com/alice --generate -l GitHub", "generates a secret of 24 characters"),
      Example(
        "printf %s \"$TOKEN\" | keytree add generic:mailer/bot", "reads the secret from standard input"),
    ],
    exitCodes: [3, 5, 6, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let storage = try NewItemStorage(
      call, mayReplace: call.arguments.has(update), isLocal: call.arguments.has(local))
    guard call.arguments.has(generate) else {
      let secret = try call.console.newSecret(
        for: storage.name, limit: StoreLayout.secretLimit, allowsEmpty: call.arguments.has(allowEmpty))
      try storage.store(secret)
      return .done
    }
    try storage.storeGenerated(
      by: try call.characterGenerator(length: call.arguments.integer(generate)), call)
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
