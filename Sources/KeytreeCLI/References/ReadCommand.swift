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
    name: "read", summary: "print the secret of a reference",
    details: [
      "As `get`, for programs: a reference names one item for good, and nothing else is accepted. The secret is printed "
        + "byte for byte; on a terminal a line feed follows."
    ],
    operands: [reference],
    examples: [
      Example("keytree read keytree://generic-password/mailer/bot", "prints the secret"),
      Example(
        "keytree read keytree://id/0123456789abcdef0123456789abcdef", "by the id, whatever it is called now"),
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
