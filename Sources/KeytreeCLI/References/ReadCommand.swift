internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree read`: prints the secret of an item, for programs.
enum ReadCommand: Command {
  static let item = OperandDeclaration(
    "ITEM", .bytes, completion: .item,
    help: "the item: a reference, `container/account`, or `#` and digits of its id")

  static let declaration = CommandDeclaration(
    name: "read", summary: "print the secret of an item, for programs",
    details: [
      "Like `get`, but for programs: there are no options, and the user never chooses among several items. A "
        + "reference names exactly one item. The secret is printed byte for byte; on a terminal a line feed follows, and a "
        + "secret that is not text is printed only after a question."
    ],
    operands: [item],
    examples: [
      Example("keytree read keytree://generic-password/mailer/bot", "prints the secret"),
      Example("keytree read generic:mailer/bot", "the same, if no other item has this name"),
      Example(
        "keytree read keytree://id/0123456789abcdef0123456789abcdef",
        "finds the item by its id, even if it was renamed"),
    ],
    exitCodes: [3, 4, 6, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let name = try call.itemName(0) else { throw call.misuse(.missingOperand(item.value.name)) }
    let resolved = try ResolvedReferences([(name, call.nameForMessages(0))], call)
    try call.show(resolved[name].copy(), of: resolved.record(of: name))
    return .done
  }
}
