internal import Arguments
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// `keytree find`: lists items by their attributes.
enum FindCommand: Command {
  static let text = OperandDeclaration(
    "TEXT", .bytes, count: .optional, help: "a part of any attribute")
  static let ignoreCase = OptionDeclaration(
    "ignore-case", short: "i", help: "take capital and small letters for the same")
  static let limit = OptionDeclaration(
    "limit", .required(ValueDeclaration("N|all", .integer(1...Int.max, or: ["all"]))),
    help: "list at most N items; all is the default")
  static let sort = OptionDeclaration(
    "sort", .required(ValueDeclaration("NAME", .text)),
    help: "sort by an attribute, by its name in the index, or by `container`; else by time of creation")

  static let declaration = CommandDeclaration(
    name: "find", aliases: ["ls"], summary: "list items by their attributes",
    details: [
      "TEXT is searched for in the value of every attribute, custom ones too; numbers count by their digits. "
        + "Class, group, id and times are no attributes: `--class`, `--group` and `#` choose by them. "
        + "The other options want the whole value.",
      "Nothing is ever decrypted. The columns are class, container, account, label, group and time of the "
        + "last change: aligned on a terminal, separated by tabs and without a header in a pipe.",
      "In a pipe tab, line feed, other control characters, bytes that are not UTF-8 and the backslash are "
        + "written as `\\t`, `\\n`, `\\xNN`, `\\u{NNNN}` and `\\\\`, so a line is an item. On a terminal "
        + "invisible and direction-changing characters are escaped as well.",
    ],
    operands: [text], options: [ignoreCase, limit, sort] + AttributeOptions.all,
    examples: [
      Example("keytree find github", "lists items with `github` in any attribute"),
      Example("keytree find --server github.com --json", "prints them as JSON, one per line"),
      Example("keytree ls -c generic --sort modified", "lists generic passwords by time of change"),
    ],
    exitCodes: [4, 8])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    let search = try ItemSearch(call)
    let index = try call.openIndex()
    let matches = try search.run(in: index)
    call.explain(matches.statistics)
    // An index is all there is here, and an index cannot decrypt.
    call.explain(EngineStatistics())
    if matches.items.isEmpty { throw noMatch(call, matches) }
    list(matches.items, on: call.console, json: call.globals.json)
    // What was printed may lack an item, so it is no success.
    return matches.problems.isEmpty ? .done : .damaged
  }

  private static func list(_ items: [ItemRecord], on console: Console, json: Bool) {
    if json {
      for item in items where !console.outputIsClosed { console.write(RecordMembers.of(item)) }
      return
    }
    var table = Table(
      ["class", "container", "account", "label", "group", "modified"], isTerminal: console.outputIsTerminal)
    for item in items { table.add(row(item)) }
    console.write(table)
  }

  private static func row(_ item: ItemRecord) -> [[UInt8]] {
    [
      Array(item.itemClass.rawValue.utf8), item.container?.shownBytes ?? [],
      item.accountValue?.shownBytes ?? [], item.attributes[.label]?.shownBytes ?? [],
      Array(item.group.utf8), Array(item.modified.rfc3339.utf8),
    ]
  }

  private static func noMatch(_ call: CommandCall, _ matches: Matches) -> Failure {
    if !matches.problems.isEmpty { return .noMatchButDamage(call.nameForMessages(0)) }
    if matches.isIndexLost { return .noMatchButDamage("the index") }
    let name = call.arguments.operand(0)?.bytes ?? []
    let isBare = call.arguments.operands.isEmpty && call.arguments.options.allSatisfy { $0.value == nil }
    return isBare
      ? .other(.notFound, message: "the store has no items", hint: "`keytree add ITEM` adds one")
      : .other(
        .notFound, message: "no item matches \(ErrorReport.show(call.nameForMessages(0)))",
        hint: name.contains(UInt8(ascii: "/"))
          ? "TEXT is a part of one attribute: give host and account as `--server HOST -a ACCOUNT`"
          : "TEXT is a part of any attribute, options want a whole value; `-i` ignores the case of letters")
  }
}
