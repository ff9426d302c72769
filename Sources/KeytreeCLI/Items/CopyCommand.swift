internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel

/// `keytree cp`: copies an item.
enum CopyCommand: Command {
  static let history = HistoryUse.after
  static let declaration = CommandDeclaration(
    name: "cp", aliases: ["copy"], summary: "copy an item under another name",
    details: [
      "Parts that the new name does not give are taken from the item. The attribute options set attributes of the "
        + "copy. The copy is a separate item with a new id. The fields of the item are copied, too."
    ],
    operands: [
      OperandDeclaration("ITEM", .bytes, completion: .item, help: "the item"),
      OperandDeclaration("NEW", .bytes, help: "the name of the copy"),
    ],
    options: [Widening.option] + AttributeOptions.forChange,
    examples: [Example("keytree cp github.com/alice gist.github.com", "the same account, another server")],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let selection = try call.selection(try call.itemName(0), of: GivenAttributes())
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let record = try call.findOne(selection, in: keyring.index)
    let login = try call.login(of: record, in: keyring.index)
    let change = ItemChange(login, to: try call.draft(renaming: record, to: 1))
    let group = change.changes.group ?? record.group
    try call.requireWritable(keyring, group: group)
    try change.requireNewPaths(call, in: keyring.index)
    try call.confirmWidening(record, to: group, in: keyring)
    let result = try change.copy(in: keyring)
    call.report("Copied \(call.name(of: record)) to", result)
    return .done
  }
}
