internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `keytree find`: lists items by their attributes.
enum FindCommand: Command {
  static let word = OperandDeclaration(
    "WORD", .bytes, count: .any, help: "a part of any attribute; every word must occur")
  static let tree = OptionDeclaration("tree", help: "show the items as a tree of containers and accounts")

  static let declaration = CommandDeclaration(
    name: "find", aliases: ["ls", "list", "search"], summary: "list items by their attributes",
    details: [
      "Each WORD is searched in the value of every attribute, including custom attributes; numbers match by their "
        + "digits. Case is ignored. Class, group, id and times are not attributes: select by them with `--class`, "
        + "`--group` and `#`. The other options match the whole value.",
      "Nothing is decrypted. On a terminal, the columns are container, account, label, fields and the date of the "
        + "last change; class and group are shown where they are not `internet-password` and `default`. Columns are "
        + "cut, and the last ones are left out, to fit the width of the terminal.",
      "In a pipe, the columns are class, container, account, label, group and time of the last change, separated by "
        + "tabs and without a header. Tab, line feed, other control characters, bytes that are not UTF-8 and the "
        + "backslash are written as `\\t`, `\\n`, `\\xNN`, `\\u{NNNN}` and `\\\\`, so that each item is one line. On a "
        + "terminal, invisible and direction-changing characters are also escaped.",
      "`--json` prints the names of the fields as `fields`. A field whose item was removed is listed separately.",
    ],
    operands: [word], options: ItemSearch.options + [tree] + AttributeOptions.all,
    examples: [
      Example("keytree find github alice", "lists items with both words in their attributes"),
      Example("keytree find --server github.com --json", "prints them as JSON, one per line"),
      Example("keytree ls --class generic --sort modified", "lists generic passwords by time of change"),
    ],
    exitCodes: [4, 8])

  static func run(_ call: CommandCall) throws -> ExitCode {
    if call.arguments.has(tree), call.globals.json {
      throw call.misuse(.conflict(tree.display, GlobalOptions.json.display))
    }
    let search = try ItemSearch(call, words: call.arguments.operands)
    let index = try call.openIndex()
    let found = try search.run(in: index)
    // This command opens only an index, and an index cannot decrypt.
    call.explain(EngineStatistics())
    if found.logins.isEmpty {
      if let failure = try noMatch(call, found) { throw failure }
      call.console.say("The store has no items; `keytree add ITEM` adds one.")
      return .done
    }
    if call.globals.json {
      for login in found.logins where !call.console.outputIsClosed {
        call.console.write(RecordMembers.of(login))
      }
    } else if call.arguments.has(tree) {
      let width = call.console.outputIsTerminal ? call.console.width : nil
      for line in LoginTree(found.logins).lines {
        call.console.print(width.map { DisplayWidth.cut(Escaping.terminal.show(line), to: $0) } ?? line)
      }
    } else {
      LoginTable(found.logins, call).write()
    }
    // The list may lack an item, so this is not a success.
    return found.problems.isEmpty ? .done : .damaged
  }

  /// Returns the failure of a search without a result; nil if the store has no items and none were searched for.
  private static func noMatch(_ call: CommandCall, _ found: ItemSearch.Found) throws -> CommandError? {
    let words = call.arguments.operands.map { Escaping.terminal.show($0.bytes) }
    let name = words.isEmpty ? "these attributes" : words.joined(separator: " ")
    if !found.problems.isEmpty { return .noMatchButDamage(name) }
    if found.isIndexLost { return .noMatchButDamage("the index") }
    if words.isEmpty, try call.givenAttributes().isEmpty { return nil }
    let hasSlash = call.arguments.operands.contains { $0.bytes.contains(UInt8(ascii: "/")) }
    return .other(
      .notFound, message: "no item matches \(name)",
      hint: hasSlash
        ? "a WORD matches a part of one attribute; give host and account as two words"
        : "a WORD matches a part of any attribute, options match a whole value")
  }
}

/// Logins as a table, for a terminal or a pipe.
private struct LoginTable {
  private let logins: [Login]
  private let call: CommandCall

  init(_ logins: [Login], _ call: CommandCall) { (self.logins, self.call) = (logins, call) }

  /// Prints the table.
  func write() {
    if call.console.outputIsTerminal { call.console.write(forTerminal) } else { writeForPipe() }
  }

  /// Prints the fixed columns of a pipe: class, container, account, label, group and time of the last change.
  private func writeForPipe() {
    let (logins, size) = (logins, Self.rowsPerTask)
    let parts = WorkerPool(workers: 0).map((logins.count + size - 1) / size) { part -> [UInt8] in
      var rows: [UInt8] = []
      for number in part * size..<min((part + 1) * size, logins.count) {
        Self.writeRow(of: logins[number].item, to: &rows)
      }
      return rows
    }
    for rows in parts where !call.console.outputIsClosed { call.console.write(rows) }
  }

  private static func writeRow(of item: ItemRecord, to rows: inout [UInt8]) {
    rows += Table.pipeRow([
      Array(item.itemClass.rawValue.utf8), item.container?.shownBytes ?? [],
      item.accountValue?.shownBytes ?? [], item.attributes[.label]?.shownBytes ?? [],
      Array(item.group.utf8), Array(item.modified.rfc3339.utf8),
    ])
  }

  /// The number of rows that a thread composes at once.
  private static let rowsPerTask = 1024

  private var forTerminal: Table {
    let columns: [(name: String, cell: (Login) -> [UInt8])] = [
      ("container", { $0.item.container?.shownBytes ?? [] }),
      ("account", { $0.item.accountValue?.shownBytes ?? [] }),
      ("label", { $0.item.attributes[.label]?.shownBytes ?? [] }),
      ("fields", { Array(($0.item.field ?? $0.fieldNames.joined(separator: ", ")).utf8) }),
      ("modified", { Array($0.item.modified.day.utf8) }),
      ("class", { $0.item.itemClass == .internetPassword ? [] : Array($0.item.itemClass.rawValue.utf8) }),
      ("group", { $0.item.group == GroupName.default ? [] : Array($0.item.group.utf8) }),
    ]
    // A column is shown if a login has something in it.
    let shown = columns.filter { column in
      ["container", "account", "modified"].contains(column.name)
        || logins.contains { !column.cell($0).isEmpty }
    }
    var table = Table(
      shown.map(\.name), isTerminal: true, width: call.console.width,
      hasColor: call.environment.allowsColor)
    for login in logins { table.add(shown.map { $0.cell(login) }) }
    return table
  }
}

/// Logins as a tree: containers with their accounts, and accounts with their fields.
private struct LoginTree {
  /// A container of a class.
  private struct Container: Hashable {
    let itemClass: ItemClass
    let name: [UInt8]
  }

  private var containers: [Container] = []
  private var logins: [Container: [Login]] = [:]

  init(_ all: [Login]) {
    for login in all {
      let container = Container(
        itemClass: login.item.itemClass, name: login.item.container?.shownBytes ?? [])
      if logins[container] == nil { containers.append(container) }
      logins[container, default: []].append(login)
    }
  }

  /// The lines, with the containers in the order of their first login. The names are not escaped.
  var lines: [String] { containers.flatMap(lines) }

  private func lines(of container: Container) -> [String] {
    let name = container.name.isEmpty ? "(no container)" : String(decoding: container.name, as: UTF8.self)
    let itemClass = container.itemClass == .internetPassword ? "" : "  (\(container.itemClass.rawValue))"
    var lines = [name + itemClass]
    let logins = logins[container] ?? []
    for (number, login) in logins.enumerated() {
      let isLast = number == logins.count - 1
      lines.append((isLast ? "└── " : "├── ") + self.name(of: login.item))
      let names = login.fieldNames
      for (number, field) in names.enumerated() {
        lines.append((isLast ? "    " : "│   ") + (number == names.count - 1 ? "└── " : "├── ") + field)
      }
    }
    return lines
  }

  private func name(of item: ItemRecord) -> String {
    let account = String(decoding: item.accountValue?.shownBytes ?? [], as: UTF8.self)
    let label = item.attributes[.label].map { String(decoding: $0.shownBytes, as: UTF8.self) }
    var name = account.isEmpty ? "(no account)" : account
    if let field = item.field { name += " --field \(field)" }
    if item.group != GroupName.default { name += "  (group \(item.group))" }
    if let label { name += "  " + label }
    return name
  }
}
