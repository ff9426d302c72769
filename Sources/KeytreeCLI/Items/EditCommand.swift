internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree edit`: opens a secret in an editor.
enum EditCommand: Command {
  static let history = HistoryUse.after
  static let declaration = CommandDeclaration(
    name: "edit", summary: "change the secret of an item in your editor",
    details: [
      "The file is in memory (tmpfs) and is wiped when the editor ends for any reason. Without a folder in memory, "
        + "nothing is edited. vim, neovim, nano and Emacs are told to keep no copies. The editor is `$VISUAL`, else "
        + "`$EDITOR`, else vi; no shell is started.",
      "If the item was changed while the editor was open, nothing is overwritten: your version is kept as a conflict "
        + "copy, which `keytree resolve` lists and resolves.",
      "If no item has the name, the command offers to create it, also a field with `--field`. An empty file creates "
        + "nothing.",
      "If the secret had no line feed at its end, a line feed that the editor added is removed.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item; options can replace it")
    ],
    options: [AttributeOptions.field] + AttributeOptions.all,
    examples: [
      Example("keytree edit generic:notes/router", "opens the secret in your editor"),
      Example("keytree edit github.com/alice --field note", "opens the field `note`, or creates it"),
    ],
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let selection = try call.selection(0)
    try Editor.requirePerson(at: call.console)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let record: ItemRecord
    do {
      record = try call.findOne(selection, in: keyring.index)
    } catch let error as CommandError {
      guard case .noMatch(_, _, _, let candidates) = error, try offersCreation(call, candidates) else {
        throw error
      }
      return try create(call)
    }
    try call.requireWritable(keyring, group: record.group)
    let secret = try keyring.secret(for: record, matching: selection.query(for: record))
    let editor = Editor(environment: call.environment)
    guard let edited = try editor.edit(secret, limit: StoreLayout.secretLimit, console: call.console) else {
      call.report("Nothing was changed in", record)
      return .done
    }
    switch try EditedSecret(of: record, keyring: keyring, console: call.console).store(edited) {
    case .replaced(let result):
      call.report("Changed the secret of", result)
    case .restored(let result):
      call.report("The item was removed concurrently; stored it again as", result)
    case .kept(let copy):
      if call.globals.json { call.console.write(RecordMembers.of(copy)) }
      throw CommandError.editedMeanwhile(call.name(of: record))
    }
    return .done
  }

  /// Asks whether to create an item or a field that does not exist, after the items with similar names.
  private static func offersCreation(_ call: CommandCall, _ candidates: [String]) throws -> Bool {
    guard let name = try call.itemName(0), try !name.isByIdentity || call.givenAttributes().field != nil
    else {
      return false
    }
    if !candidates.isEmpty {
      call.console.complain("These match:")
      for candidate in candidates { call.console.complain("  " + candidate) }
    }
    return try call.console.confirm("No item is named \(call.nameForMessages(0)). Create it")
  }

  /// Opens an empty file, and stores its content as a new item.
  private static func create(_ call: CommandCall) throws -> ExitCode {
    let storage = try NewItemStorage(call, mayReplace: false, isLocal: false)
    let editor = Editor(environment: call.environment)
    let nothing = SecretBytes()
    guard let edited = try editor.edit(nothing, limit: StoreLayout.secretLimit, console: call.console),
      !edited.isEmpty
    else {
      call.console.say("The file is empty; nothing was stored.")
      return .done
    }
    try storage.store(edited)
    return .done
  }
}
