internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `keytree find`: lists items by their attributes.
enum FindCommand: Command {
  static let text = OperandDeclaration(
    "TEXT", .bytes, count: .optional, help: "a part of any attribute")

  static let declaration = CommandDeclaration(
    name: "find", aliases: ["ls"], summary: "list items by their attributes",
    details: [
      "TEXT is searched in the value of every attribute, including custom attributes; numbers match by their digits. "
        + "Class, group, id and times are not attributes: select by them with `--class`, `--group` and `#`. The other "
        + "options match the whole value.",
      "Nothing is decrypted. The columns are class, container, account, label, group and time of the last change: "
        + "aligned on a terminal, separated by tabs and without a header in a pipe.",
      "An item is listed with the names of its fields: on a terminal in a column, with `--json` as `fields`. A field "
        + "whose item was removed is listed separately.",
      "In a pipe, tab, line feed, other control characters, bytes that are not UTF-8 and the backslash are written as "
        + "`\\t`, `\\n`, `\\xNN`, `\\u{NNNN}` and `\\\\`, so that each item is one line. On a terminal, invisible and "
        + "direction-changing characters are also escaped.",
    ],
    operands: [text], options: ItemSearch.options + AttributeOptions.all,
    examples: [
      Example("keytree find github", "lists items with `github` in any attribute"),
      Example("keytree find --server github.com --json", "prints them as JSON, one per line"),
      Example("keytree ls -c generic --sort modified", "lists generic passwords by time of change"),
    ],
    exitCodes: [4, 8])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let search = try ItemSearch(call)
    let index = try call.openIndex()
    let found = try search.run(in: index)
    // This command opens only an index, and an index cannot decrypt.
    call.explain(EngineStatistics())
    if found.logins.isEmpty { throw noMatch(call, found) }
    list(found.logins, on: call.console, json: call.globals.json)
    // The list may lack an item, so this is not a success.
    return found.problems.isEmpty ? .done : .damaged
  }

  private static func list(_ logins: [Login], on console: Console, json: Bool) {
    if json {
      for login in logins where !console.outputIsClosed { console.write(RecordMembers.of(login)) }
      return
    }
    // The columns of a pipe are fixed.
    let showsFields = console.outputIsTerminal && logins.contains { !shownFields(of: $0).isEmpty }
    var columns = ["class", "container", "account", "label", "group", "modified"]
    if showsFields { columns.insert("fields", at: fieldsColumn) }
    var table = Table(columns, isTerminal: console.outputIsTerminal)
    for login in logins {
      var row = row(login.item)
      if showsFields { row.insert(Array(shownFields(of: login).utf8), at: fieldsColumn) }
      table.add(row)
    }
    console.write(table)
  }

  private static let fieldsColumn = 4

  private static func shownFields(of login: Login) -> String {
    login.item.field ?? login.fieldNames.joined(separator: ", ")
  }

  private static func row(_ item: ItemRecord) -> [[UInt8]] {
    [
      Array(item.itemClass.rawValue.utf8), item.container?.shownBytes ?? [],
      item.accountValue?.shownBytes ?? [], item.attributes[.label]?.shownBytes ?? [],
      Array(item.group.utf8), Array(item.modified.rfc3339.utf8),
    ]
  }

  private static func noMatch(_ call: CommandCall, _ found: ItemSearch.Found) -> CommandError {
    if !found.problems.isEmpty { return .noMatchButDamage(call.nameForMessages(0)) }
    if found.isIndexLost { return .noMatchButDamage("the index") }
    let name = call.arguments.operand(0)?.bytes ?? []
    let isBare = call.arguments.operands.isEmpty && call.arguments.options.allSatisfy { $0.value == nil }
    return isBare
      ? .other(.notFound, message: "the store has no items", hint: "`keytree add ITEM` adds one")
      : .other(
        .notFound, message: "no item matches \(call.nameForMessages(0))",
        hint: name.contains(UInt8(ascii: "/"))
          ? "TEXT matches a part of one attribute; give host and account as `--server HOST -a ACCOUNT`"
          : "TEXT matches a part of any attribute, options match a whole value; `-i` ignores case")
  }
}
