internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel

/// `keytree mv`: renames an item.
enum MoveCommand: Command {
  static let history = HistoryUse.after
  static let declaration = CommandDeclaration(
    name: "mv", aliases: ["move", "rename"], summary: "rename an item",
    details: [
      "Parts that the new name does not give do not change: if the new name has no account, the account is kept. The "
        + "class never changes. The attribute options set new values, too. Id, revision and persistent references do "
        + "not change. The fields of the item are renamed with it."
    ],
    operands: [
      OperandDeclaration("ITEM", .bytes, completion: .item, help: "the item"),
      OperandDeclaration("NEW", .bytes, help: "the new name"),
    ],
    options: [Widening.option] + AttributeOptions.forChange,
    examples: [Example("keytree mv github.com/alice github.com/alice-work", "changes the account")],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let selection = try call.selection(try call.itemName(0), of: GivenAttributes())
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    // GnuPG starts while the index is searched, because the renamed item needs a new signature.
    keyring.warmUp()
    let record = try call.findOne(selection, in: keyring.index)
    let login = try call.login(of: record, in: keyring.index)
    let change = ItemChange(login, to: try call.draft(renaming: record, to: 1))
    for group in [record.group, change.changes.group] { try call.requireWritable(keyring, group: group) }
    try change.requireFreePaths(call, in: keyring.index)
    try call.confirmWidening(record, to: change.changes.group, in: keyring)
    let old = call.name(of: record)
    let result = try change.apply(to: keyring)
    call.report(change.isEmpty ? "Nothing to change in" : "Renamed \(old) to", result)
    return .done
  }
}
