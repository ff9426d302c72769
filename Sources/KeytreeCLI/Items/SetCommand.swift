internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree set`: changes attributes or the secret of an item.
enum SetCommand: Command {
  static let history = HistoryUse.after
  static let item = OperandDeclaration(
    "ITEM", .bytes, completion: .item, help: "the item to change")
  static let secret = OptionDeclaration(
    "secret", help: "change the secret; it is entered at a prompt or read from standard input")
  static let clear = OptionDeclaration(
    "clear", .required(ValueDeclaration("NAME", .text)),
    help: "remove an attribute, by its name in the index", isRepeatable: true)

  static let declaration = CommandDeclaration(
    name: "set", summary: "change attributes or the secret of an item",
    details: [
      "The attribute options are the new values. The item keeps its id and, unless the secret changes, its revision. "
        + "If the primary key changes, the item and its fields are renamed. If the group changes, the item and its "
        + "fields are re-encrypted. With `--field`, only that field is changed.",
      "Clearing an attribute that the item does not have is not an error.",
    ],
    operands: [item],
    options: [AttributeOptions.field, secret, clear, Widening.option] + AttributeOptions.forChange,
    examples: [
      Example(
        "keytree set github.com/alice -l GitHub --clear comment", "sets the label and removes the comment"),
      Example("keytree set github.com/alice --secret", "prompts for the new secret"),
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let cleared = try clearedNames(call)
    let field = try call.givenAttributes().field
    let selection = try call.selection(try call.itemName(0), of: GivenAttributes(field: field))
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    let record = try call.findOne(selection, in: keyring.index)
    let login = try call.login(of: record, in: keyring.index)
    let change = ItemChange(login, to: try call.draft(renaming: record, to: nil), clearing: cleared)
    for group in [record.group, change.changes.group] { try call.requireWritable(keyring, group: group) }
    try change.requireFreePaths(call, in: keyring.index)
    try call.confirmWidening(record, to: change.changes.group, in: keyring)
    guard call.arguments.has(secret) else {
      let result = try change.apply(to: keyring)
      call.report(change.isEmpty ? "Nothing to change in" : "Changed", result)
      return .done
    }
    keyring.warmUp()
    let name = call.name(of: record)
    let new = SecretSlice(try call.console.newSecret(for: name, limit: StoreLayout.secretLimit))
    call.report("Changed the secret of", try change.apply(to: keyring, secret: new))
    return .done
  }

  /// Returns the attributes to remove.
  ///
  /// - Throws: a usage error if nothing changes, for an attribute that cannot be removed, and for an attribute that
  ///   also gets a value.
  private static func clearedNames(_ call: CommandCall) throws -> [AttributeName] {
    let given = try call.givenAttributes()
    let names = call.arguments.values(clear).compactMap(\.text).map { AttributeName($0) }
    guard !given.isEmpty || !names.isEmpty || call.arguments.has(secret) else {
      throw call.misuse(.other("no change is given"))
    }
    for name in names {
      let belongsToSome = ItemClass.allCases.contains { AttributeSchema.applies(name, to: $0) }
      guard belongsToSome, name != .field else {
        throw call.misuse(.other("`\(name.text)` cannot be removed from an item"))
      }
      if given.entries.contains(where: { $0.name == name }) {
        throw call.misuse(.other("`\(name.text)` is both set and cleared"))
      }
    }
    return names
  }
}
