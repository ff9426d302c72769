internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel

/// `keytree rotate`: lists and changes the secrets that former readers could know.
enum RotateCommand: Command {
  static let history = HistoryUse.before

  static let failIfOpen = OptionDeclaration(
    "fail-if-open",
    help: "exit with code 13 if a secret must be changed, or if the list may be incomplete")
  static let reason = OptionDeclaration(
    "reason", .required(ValueDeclaration("TEXT", .text)),
    help: "the reason why the secret stays; it is public")
  private static let count = OperandDeclaration(
    "N", .integer(SecretGenerator.lengths), count: .optional,
    help: "the number of characters or words of the new secret, as for `keytree generate`")

  private static let status = CommandDeclaration(
    name: "status", summary: "list the secrets that former readers could know",
    details: [
      "Prints one line for each secret: its state, the item, and who could read the current secret. `open` means that "
        + "it must be changed, `accepted` that an admin has decided that it stays, `deleted` that the item was "
        + "deleted but the secret may still be in use elsewhere. An entry closes when a member signs a record with "
        + "another secret.",
      "The list is computed from the recipients of all encrypted files in the history and in the store; nothing is "
        + "decrypted. The command reports why the list may be incomplete: the clone does not have the complete "
        + "history, or the record of an item is not signed by a member of its group.",
    ],
    options: [failIfOpen],
    examples: [
      Example("keytree rotate status", "prints the list"),
      Example("keytree rotate status --fail-if-open", "for a nightly check"),
    ],
    exitCodes: [4, 8, 9, 11, 13])

  private static let next = CommandDeclaration(
    name: "next", summary: "change the next secret on the list, step by step",
    details: [
      "Shows the item and asks what to do: generate, type or edit a new secret, show the old one, skip the item, or "
        + "accept that the secret stays. The new secret is encrypted and kept on this machine before you see it, and "
        + "becomes the secret of the item when you confirm that it is in use. Neither secret is lost if the command "
        + "is interrupted: the next `keytree rotate next` continues there."
    ],
    operands: [count], options: [GenerateCommand.words, GenerateCommand.charset, GenerateCommand.noSymbols],
    examples: [
      Example("keytree rotate next", "generates 24 characters, like `keytree generate`"),
      Example("keytree rotate next 6 --words", "generates six words"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12, 14])

  private static let accept = CommandDeclaration(
    name: "accept", summary: "accept that a secret stays although former readers could know it",
    details: [
      "The decision is written to the policy with your name and the reason, so only admins can make it. It applies "
        + "only to the current secret: if former readers could know a later one, that one must be accepted again. "
        + "Name a deleted item by its id."
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item; options can replace it")
    ],
    options: [reason] + AttributeOptions.all,
    examples: [
      Example(
        "keytree rotate accept wifi/guests --reason public",
        "marks the entry as accepted")
    ],
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12, 14])

  static let declaration = CommandDeclaration(
    name: "rotate", summary: "list and change the secrets that former readers could know",
    details: [
      "Removing a person from a group re-encrypts its items, but the person may have kept the secrets that they could "
        + "read. The rotation list contains these secrets until they are changed. Without a subcommand, it shows the list."
    ],
    subcommands: [status, next, accept], impliedSubcommand: status.name,
    examples: [
      Example("keytree rotate status", "shows the secrets that must be changed, and who could read them")
    ],
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    switch call.path.last?.name {
    case status.name: return try RotationReport(call).show()
    case next.name: return try RotationTurn(call).run()
    default: return try RotationAcceptance(call).run()
    }
  }
}
