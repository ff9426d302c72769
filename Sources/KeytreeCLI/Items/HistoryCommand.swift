internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync
internal import Terminal

/// `keytree history`: lists the changes of an item.
enum HistoryCommand: Command {
  static let history = HistoryUse.before
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, completion: .item,
    help: "the item; a deleted item is found by its former name")
  static let limit = OptionDeclaration(
    "limit", .required(ValueDeclaration("N", .integer(1...1_000_000))),
    help: "show only the N newest versions")

  static let declaration = CommandDeclaration(
    name: "history", summary: "show who changed an item, when and how",
    details: [
      "Prints one line for each commit that changed the item, the newest first: the time, the commit, the revision of "
        + "the secret, the author and the change. An item is identified by its id, so renames and deletions are "
        + "included. Nothing is decrypted: the records show whether the secret was changed or only re-encrypted. "
        + "`keytree verify` checks who signed them.",
      "`keytree get ITEM --at REV` prints an old secret: REV is a commit or a revision from this list. The author and "
        + "the time are those that the author of the commit gave.",
      "With `--json` the members are `time`, `commit`, `author`, `mail`, `id`, `reference`, `revision`, `change` "
        + "(added, alreadyThere, deleted, broughtBack, secret, resealed, attributes, renamed, moved) and, if they "
        + "apply, `attributes`, `from` and `fromGroup`.",
    ],
    operands: [item], options: [AttributeOptions.field, limit] + AttributeOptions.all,
    examples: [
      Example("keytree history github.com/alice", "lists all versions"),
      Example("keytree history github.com/alice --limit 1 --json", "prints the last change for a program"),
    ],
    exitCodes: [4, 6, 8, 11])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let selection = try call.selection(0)
    let repository = try call.requireRepository()
    // This command opens only an index, and an index cannot decrypt.
    let index = try call.openIndex()
    let record = try call.findInHistory(selection, in: index, repository)
    let history = try ItemHistory(of: record.id, from: record.path, in: repository)
    call.explain(EngineStatistics())
    if history.versions.isEmpty {
      throw CommandError.other(
        .notFound, message: "\(call.name(of: record)) has no history",
        hint: record.isLocal
          ? "it is kept only on this machine, so no commit contains it"
          : "`keytree status` shows what is not committed")
    }
    let count = call.arguments.integer(limit) ?? history.versions.count
    list(history.versions.prefix(count), call)
    if history.isCutOff {
      call.console.say("This clone has no older history; `keytree git fetch --unshallow` fetches it.")
    }
    try showCopies(of: record, in: index, call)
    return .done
  }

  private static func list(_ versions: ArraySlice<ItemVersion>, _ call: CommandCall) {
    if call.globals.json {
      for version in versions where !call.console.outputIsClosed { call.console.write(version.members) }
      return
    }
    let isTerminal = call.console.outputIsTerminal
    // The description of the change is the last column and is shown completely.
    // On a terminal, the other columns are as short as they can be.
    var table = Table(
      [isTerminal ? "when (UTC)" : "when", "commit", "revision", "who", "what"], isTerminal: isTerminal,
      cellWidth: nil, hasColor: call.environment.allowsColor)
    for version in versions {
      let author = version.commit.author.isEmpty ? version.commit.mail : version.commit.author
      table.add([
        isTerminal ? version.commit.time.minute : version.commit.time.second,
        String(version.commit.name.prefix(isTerminal ? 8 : 12)),
        String(version.lastRecord?.revision.hex.prefix(8) ?? ""),
        isTerminal ? DisplayWidth.cut(Escaping.terminal.show(author), to: Table.listCellWidth) : author,
        version.message,
      ])
    }
    call.console.write(table)
  }

  /// Reports that a merge kept other versions of the item.
  private static func showCopies(
    of record: ItemRecord, in index: Index, _ call: CommandCall
  ) throws {
    let count = try index.conflictCopyCount(of: record.id)
    if count == 0 { return }
    let copies = count == 1 ? "1 conflict copy of it exists" : "\(count) conflict copies of it exist"
    call.console.say("\(copies); `keytree resolve` lists them.")
  }
}
