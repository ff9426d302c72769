internal import Arguments
internal import Keyring
internal import KeyringModel

/// `keytree cp`: duplicates an item.
enum CopyCommand: Command {
  static let history = HistoryUse.after
  static let declaration = CommandDeclaration(
    name: "cp", summary: "copy an item under another name",
    details: [
      "What the new name does not say is taken from the item. The attribute options are values of the copy. "
        + "The copy is an item of its own with a new id."
    ],
    operands: [
      OperandDeclaration("ITEM", .bytes, completion: .item, help: "the item"),
      OperandDeclaration("NEW", .bytes, help: "the name of the copy"),
    ],
    options: [Widening.option] + AttributeOptions.forChange,
    examples: [Example("keytree cp github.com/alice gist.github.com", "the same account, another server")],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    let selection = try call.selection(try call.itemName(0), of: GivenAttributes())
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let record = try call.findOne(selection, in: keyring.index)
    let draft = try call.draft(renaming: record, to: 1)
    var copy = NewItem(
      itemClass: draft.itemClass, attributes: draft.attributes, group: draft.group ?? record.group,
      isLocal: record.isLocal)
    // What a conflict left behind is the original's story, not the copy's.
    copy.attributes[.conflictOf] = nil
    try call.requireWritable(keyring, group: copy.group)
    let path = try keyringCall(copy.path())
    if try call.find(path, in: keyring.index) != nil { throw .keyring(.itemExists(.path(path))) }
    try call.confirmWidening(record, to: copy.group, in: keyring)
    let result = try keyringCall(keyring.duplicate(record, as: copy))
    call.report("Copied \(ErrorReport.show(record.reference.text)) to", result)
    return .done
  }
}
