internal import Arguments
internal import Keyring
internal import KeyringModel
internal import Sync

/// `keytree undelete`: brings back an item that was deleted.
enum UndeleteCommand: Command {
  static let history = HistoryUse.after
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, help: "the item, by the name that it had or by its id")

  static let declaration = CommandDeclaration(
    name: "undelete", summary: "bring back an item that was deleted",
    details: [
      "The last version comes back as it was: id, attributes, times and the sealed message, byte for byte. Of "
        + "several deleted items with the name the candidates are listed, by their ids.",
      "Where the group has other members by now, the secret is sealed again for them, which needs your key. Without "
        + "it the item comes back as it was, and only those can read it who could; that is said.",
      "`keytree get ITEM --at REV` prints the secret of a deleted item and brings nothing back.",
    ],
    operands: [item], options: AttributeOptions.all,
    examples: [Example("keytree undelete github.com/alice", "brings it back")],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    let selection = try call.selection(0)
    let repository = try call.requireRepository()
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    try call.requireWritable(keyring)
    // A deletion that is not in the history yet would not be found.
    try call.commitPending()
    let last = try lastVersion(call, selection, in: keyring.index, repository)
    if try call.find(last.record.path, in: keyring.index) != nil { throw isTaken(last.record) }
    let item = try sealed(last, in: repository, keyring, call)
    do {
      try keyring.bringBack(item.record, message: item.message)
    } catch {
      if case .itemExists = error { throw isTaken(last.record) }
      throw .keyring(error)
    }
    call.report("Brought back", item.record)
    return .done
  }

  /// The one deleted item that is meant, as it was before.
  private static func lastVersion(
    _ call: CommandCall, _ selection: ItemSelection, in index: Index, _ repository: Repository
  ) throws(Failure) -> ItemVersion.Past {
    var deleted: [ItemRecord] = []
    for record in try call.removed(selection, repository) {
      // What was renamed, or is kept on this machine alone, is not deleted.
      let byID = try keyringCall(index.find(Query(predicates: [.id(record.id)], limit: .one)))
      if byID.items.isEmpty { deleted.append(record) }
    }
    if let record = try call.settleOne(selection, deleted) {
      let history = try syncCall { () throws(SyncError) in
        try ItemHistory(of: record.id, from: record.path, in: repository)
      }
      if let last = history.lastBeforeDeletion { return last }
    }
    let isThere = try !call.find(selection, in: index).items.isEmpty
    throw .other(
      .notFound, message: "no deleted item matches \(call.nameForMessages(0))",
      hint: isThere
        ? "it is in the store; `keytree history ITEM` shows its older versions"
        : "`keytree git log --diff-filter=D --name-only -- items` lists the files that were removed")
  }

  /// The line and the message to bring back: as they were, or sealed again for today's members of the group.
  private static func sealed(
    _ last: ItemVersion.Past, in repository: Repository, _ keyring: Keyring, _ call: CommandCall
  ) throws(Failure) -> (record: ItemRecord, message: [UInt8]) {
    let found = try syncCall { () throws(SyncError) in
      try PastStore(at: last.commit, in: repository)?.message(of: last.record)
    }
    guard let message = found else { throw .keyring(.itemDamaged(last.record.reference, .missing)) }
    if keyring.isSealed(message, to: last.record.group) { return (last.record, message) }
    if let again = try keyringCall(keyring.sealAgain(last.record, message)) { return again }
    call.console.complain(
      "keytree: warning: \(ErrorReport.show(last.record.reference.text)) is sealed to the members that its group had "
        + "then, and could not be sealed again")
    call.console.complain(
      "hint: somebody who can read it seals it for all members with `keytree set ITEM --secret`")
    return (last.record, message)
  }

  private static func isTaken(_ record: ItemRecord) -> Failure {
    .other(
      .alreadyExists,
      message: "cannot bring back \(ErrorReport.show(record.reference.text)): another item has its place",
      hint:
        "give that one another name with `keytree mv`; `keytree history \(ItemReference.id(record.id).text)` "
        + "shows the versions of the old one")
  }
}
