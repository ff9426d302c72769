internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree rm`: removes items.
enum RemoveCommand: Command {
  static let history = HistoryUse.after
  /// The permission for an admin to remove something of a group that they are not in.
  static let asAdmin = OptionDeclaration(
    "as-admin", help: "as an admin, also remove what belongs to groups that you are not in")
  static let declaration = CommandDeclaration(
    name: "rm", aliases: ["delete", "remove"], summary: "remove items",
    details: [
      "Each name must match exactly one item: if several match, the candidates are listed and nothing is removed. All "
        + "items are removed with their fields in one step, or nothing is removed. With `--field`, only that field is "
        + "removed.",
      "The encrypted files are deleted. Versions that git has stay in the history, and `keytree undelete` restores "
        + "them. Nothing restores items of a store without git, or items that stay on this machine (`--local`): on a "
        + "terminal, the command asks before it removes them.",
      "An item of a group that you are not in is not removed, unless you are an admin and give `--as-admin`, for "
        + "example because its only reader has lost their key.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .any, completion: .item, help: "the items; options can replace a name")
    ],
    options: [AttributeOptions.field, asAdmin] + AttributeOptions.all,
    examples: [Example("keytree rm github.com/alice github.com/bob", "removes both, or none")],
    exitCodes: [4, 6, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let given = try call.givenAttributes()
    var selections: [ItemSelection] = []
    for operand in call.arguments.operands.indices {
      selections.append(try call.selection(try call.itemName(operand), of: given))
    }
    if selections.isEmpty { selections = [try call.selection(of: given)] }
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    var records: [ItemRecord] = []
    for (operand, selection) in selections.enumerated() {
      let record = try call.findOne(selection, operand: operand, in: keyring.index)
      // Two names of one item are not an error; the item is removed once.
      for record in try call.login(of: record, in: keyring.index).records
      where !records.contains(where: { $0.place == record.place }) { records.append(record) }
    }
    try confirmLoss(of: records, call)
    try keyring.delete(records, asAdmin: call.arguments.has(asAdmin))
    for record in records { call.report("Removed", record, isStored: false) }
    return .done
  }

  /// Asks on a terminal before items are removed that no history contains. A script is not asked.
  private static func confirmLoss(of records: [ItemRecord], _ call: CommandCall) throws {
    guard call.console.canAsk else { return }
    let hasHistory = try call.repository() != nil
    let lost = records.filter { !hasHistory || $0.isLocal }
    guard let first = lost.first else { return }
    let names = lost.count == 1 ? call.name(of: first) : "\(lost.count) items"
    call.console.complain(
      hasHistory
        ? "Nothing can restore \(names): git does not keep local items."
        : "Nothing can restore \(names): the store has no git repository.")
    try call.console.require(
      "Remove \(lost.count == 1 ? "it" : "them")", otherwise: "nothing was removed",
      ifImpossible: TerminalError.cancelled(action: "nothing was removed"))
  }
}
