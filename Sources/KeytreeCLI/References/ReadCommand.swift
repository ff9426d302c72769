internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree read`: prints the secret that a reference names.
enum ReadCommand: Command {
  static let reference = OperandDeclaration(
    "REF", .text, completion: .item,
    help: "a reference, `keytree://CLASS/CONTAINER/NAME` or `keytree://id/DIGITS`")

  static let declaration = CommandDeclaration(
    name: "read", summary: "print the secret that a reference names",
    details: [
      "Like `get`, but for programs: it accepts only a reference, which names exactly one item. The secret is printed "
        + "byte for byte; on a terminal a line feed follows."
    ],
    operands: [reference],
    examples: [
      Example("keytree read keytree://generic-password/mailer/bot", "prints the secret"),
      Example(
        "keytree read keytree://id/0123456789abcdef0123456789abcdef",
        "finds the item by its id, even if it was renamed"),
    ],
    exitCodes: [3, 4, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let text = call.arguments.operand(0)?.text, let reference = ItemReference(text) else {
      throw call.misuse(ItemName.Problem.badReference.usage)
    }
    let resolved = try ResolvedReferences([reference], call)
    call.console.write(secret: resolved[reference].copy())
    return .done
  }
}
