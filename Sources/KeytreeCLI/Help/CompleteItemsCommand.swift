internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree complete-items`: prints the names of items for the completion of a shell.
enum CompleteItemsCommand: Command {
  static let declaration = CommandDeclaration(
    name: CompletionScript.itemCommand, summary: "print the names of items that begin with a text",
    details: [
      "The completion scripts call it. One name is one line; names that would have to be escaped are left out."
    ],
    operands: [OperandDeclaration("PREFIX", .bytes, count: .optional, help: "the beginning of the names")],
    examples: [Example("keytree complete-items git", "prints the names that begin with `git`")],
    isHidden: true)

  static func run(_ call: CommandCall) throws -> ExitCode {
    let typed = call.arguments.operand(0)?.bytes ?? []
    var itemClass: ItemClass?
    var prefix = typed[...]
    if let colon = typed.firstIndex(of: UInt8(ascii: ":")),
      let found = ItemName.itemClass(of: String(decoding: typed[..<colon], as: UTF8.self))
    {
      itemClass = found
      prefix = typed[(colon + 1)...]
    }
    let written = typed.dropLast(prefix.count)
    var names: Set<[UInt8]> = []
    for matches in try call.openIndex().find(queries(itemClass, Array(prefix))) {
      for item in matches.items where item.shortName.starts(with: prefix) { names.insert(item.shortName) }
    }
    for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let line = Escaping.pipe.show(name)
      if !line.contains("\\") { call.console.write(Array(written) + Array(line.utf8) + [UInt8(ascii: "\n")]) }
    }
    return .done
  }

  /// Returns the queries that find all items whose names begin with a text. A container can contain `/`.
  private static func queries(_ itemClass: ItemClass?, _ prefix: [UInt8]) -> [Query] {
    let slashes = prefix.indices.filter { prefix[$0] == UInt8(ascii: "/") }
    var queries = slashes.map { slash in
      Query(itemClass: itemClass, predicates: [.container(Array(prefix[..<slash]))])
    }
    var container = Query(itemClass: itemClass)
    if !prefix.isEmpty {
      container.predicates = [
        Predicate(subject: .container, comparison: .prefix(AttributeValue(text: prefix)))
      ]
    }
    queries.append(container)
    return queries
  }
}
