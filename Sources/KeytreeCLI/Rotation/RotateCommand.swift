internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel

/// `keytree rotate`: lists and changes the secrets that former members could read.
enum RotateCommand: Command {
  static let history = HistoryUse.before

  static let failIfOpen = OptionDeclaration(
    "fail-if-open",
    help: "end with 13 when a secret has to be changed, or when the list may be incomplete")
  static let reason = OptionDeclaration(
    "reason", .required(ValueDeclaration("TEXT", .text)), help: "why it stays; everybody can read it")
  private static let count = OperandDeclaration(
    "N", .integer(SecretGenerator.lengths), count: .optional,
    help: "how many characters or words a new secret gets, as for `keytree generate`")

  private static let status = CommandDeclaration(
    name: "status", summary: "list the secrets that people who left could read",
    details: [
      "A line for each: what is to be done, the item, and who could read its secret as it is now. `open` has to be "
        + "changed; `accepted` stays, as an admin has decided; `deleted` is an item that is gone, whose secret may "
        + "be in use elsewhere still. An entry closes when a member signs a record with another secret.",
      "The list is made from the recipients of all encrypted files in the history and in the store; nothing is "
        + "decrypted. The command says why the list may be incomplete: the clone does not have all of the history, or the "
        + "record of an item is not signed by a member of its group.",
    ],
    options: [failIfOpen],
    examples: [
      Example("keytree rotate status", "the list"),
      Example("keytree rotate status --fail-if-open", "for a check that runs every night"),
    ],
    exitCodes: [4, 8, 9, 11, 13])

  private static let next = CommandDeclaration(
    name: "next", summary: "change the next secret on the list, step by step",
    details: [
      "Shows the item and asks what to do: to generate, type or edit a new secret, to see the old one, to go on to "
        + "another item, or to accept that it stays. The new secret is kept on this machine, sealed, before you see "
        + "it, and becomes the item's when you say that it is in place. So neither the old nor the new one is lost, "
        + "whatever happens in between: the next `keytree rotate next` goes on there."
    ],
    operands: [count], options: [GenerateCommand.words, GenerateCommand.charset],
    examples: [
      Example("keytree rotate next", "24 characters, as `keytree generate` makes them"),
      Example("keytree rotate next 6 --words", "six words"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12])

  private static let accept = CommandDeclaration(
    name: "accept", summary: "say that a secret stays although others could read it",
    details: [
      "Written into the policy with your name and the reason, so only admins can. It holds for the secret as it is: "
        + "another one that somebody could read has to be accepted again. A deleted item is named by its id."
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item; options can stand for it")
    ],
    options: [reason] + AttributeOptions.all,
    examples: [
      Example(
        "keytree rotate accept wifi/guests --reason public",
        "it is open no more")
    ],
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12])

  static let declaration = CommandDeclaration(
    name: "rotate", summary: "list and change what people who left could read",
    details: [
      "Removing a person from a group encrypts its items again, but the person may have kept what they could read. The "
        + "rotation list names those secrets until they are changed."
    ],
    subcommands: [status, next, accept],
    examples: [Example("keytree rotate status", "what has to be changed, and who could read it")],
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12, 13])

  static func run(_ call: CommandCall) throws -> ExitCode {
    switch call.path.last?.name {
    case status.name: return try RotationReport(call).show()
    case next.name: return try RotationTurn(call).run()
    default: return try RotationAcceptance(call).run()
    }
  }
}
