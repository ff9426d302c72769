internal import Arguments
internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree complete-items`: prints the names of items for the completion of a shell.
enum CompleteItemsCommand: Command {
  static let declaration = CommandDeclaration(
    name: CompletionScript.itemCommand, summary: "print the names of items that begin with a text",
    details: [
      "The completion scripts call it. One name is one line; names with characters that are unsafe in output are left "
        + "out."
    ],
    operands: [OperandDeclaration("PREFIX", .bytes, count: .optional, help: "the beginning of the names")],
    options: [CompletionScript.groupOption],
    examples: [Example("keytree complete-items git", "prints the names that begin with `git`")],
    isHidden: true)

  static func run(_ call: CommandCall) throws -> ExitCode {
    if call.arguments.has(CompletionScript.groupOption) {
      for group in try call.openKeyring().policy.groups.keys.sorted() { call.console.print(group) }
      return .done
    }
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
    var names: [OrderedBytes] = []
    for matches in try call.openIndex().find(queries(itemClass, Array(prefix))) {
      names += self.names(of: matches.items, beginningWith: Array(prefix))
    }
    names.sort()
    var text: [UInt8] = []
    var last: OrderedBytes?
    for name in names where name != last {
      text += written
      text += name.bytes
      text.append(UInt8(ascii: "\n"))
      last = name
    }
    call.console.write(text)
    return .done
  }

  /// Returns true if a name is safe to print. The shell quotes it, so a backslash is not escaped.
  private static func isSafe(_ name: [UInt8]) -> Bool {
    name.split(separator: UInt8(ascii: "\\")).allSatisfy { Escaping.pipe.isUnchanged(Array($0)) }
  }

  /// Returns the names of items that begin with a text and are safe to print.
  private static func names(of items: [ItemRecord], beginningWith prefix: [UInt8]) -> [OrderedBytes] {
    let size = 2048
    return WorkerPool(workers: 0).map((items.count + size - 1) / size) { piece in
      (piece * size..<min((piece + 1) * size, items.count)).compactMap { number -> OrderedBytes? in
        let name = items[number].shortName
        return name.starts(with: prefix) && isSafe(name) ? OrderedBytes(name) : nil
      }
    }.flatMap { $0 }
  }

  /// Returns the queries that find all items whose names begin with a text. A container can contain `/`.
  private static func queries(_ itemClass: ItemClass?, _ prefix: [UInt8]) -> [Query] {
    // A name is split at these only.
    let slashes = prefix.indices.filter { prefix[$0] == UInt8(ascii: "/") }.prefix(ItemNameReading.splitLimit)
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
