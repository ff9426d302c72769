internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// `keytree undelete`: restores an item that was deleted.
enum UndeleteCommand: Command {
  static let history = HistoryUse.after
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional,
    help: "the item, by its former name or by its id; without it, all deleted items are listed")

  static let sign = OptionDeclaration(
    "sign", .optional(ValueDeclaration("FPR", .text)),
    help:
      "also restore a version that was signed with a subkey that is revoked as compromised, with your signature"
  )

  static let declaration = CommandDeclaration(
    name: "undelete", summary: "restore a deleted item",
    details: [
      "Without ITEM, lists the deleted items, the last one first, with the author and the time of the commit that "
        + "deleted them. This list is not verified.",
      "Restores the last version unchanged: the id, the attributes, the times, and the encrypted file, byte for byte. "
        + "Fields that were deleted together with a login are restored with it. If several deleted items had the "
        + "name, the candidates are listed with their ids. If the item was in several groups, you must also give its "
        + "group.",
      "Only versions that a member of the item's group has signed are restored. If the group has other members now, "
        + "the secret is re-encrypted for them, which needs your key.",
      "A version that was signed with a subkey that its owner has revoked as compromised is not restored, because "
        + "another person may have signed it. With `--sign`, the command asks about it, and restores it with your "
        + "signature. Scripts give the full fingerprint of the revoked subkey. A version that came after the "
        + "revocation is never restored.",
      "`keytree get ITEM --at REV` prints the secret of a deleted item and restores nothing.",
    ],
    operands: [item], options: [sign, AttributeOptions.field] + AttributeOptions.all,
    examples: [
      Example("keytree undelete", "lists the deleted items"),
      Example("keytree undelete github.com/alice", "restores the item"),
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    if call.arguments.operands.isEmpty, try call.givenAttributes() == GivenAttributes() {
      return try list(call)
    }
    let selection = try call.selection(0)
    let repository = try call.requireRepository()
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    try call.requireWritable(keyring)
    // A deletion that is not committed yet would not be found.
    try call.commitPending()
    let items = try deletedItems(call, selection, keyring, repository)
    if let item = items.first, try call.find(item.record.path, in: keyring.index) != nil {
      throw isTaken(item.record)
    }
    try confirm(items, keyring, call)
    let restored: [ItemRecord]
    do {
      restored = try keyring.bringBack(items)
    } catch {
      if case .itemExists = error, let item = items.first { throw isTaken(item.record) }
      throw error
    }
    for record in restored { call.report("Restored", record) }
    return .done
  }

  /// Lists the items that can be restored. A field is listed only if its item still exists.
  private static func list(_ call: CommandCall) throws -> ExitCode {
    let repository = try call.requireRepository()
    try call.commitPending()
    let index = try call.openIndex()
    var removals = try RemovedItems(below: [StoreLayout.items], in: repository).removals
    var ids: Set<ItemID> = []
    removals.removeAll { !ids.insert($0.record.id).inserted }
    let present = try presentIDs(among: removals.map(\.record.id), in: index)
    removals.removeAll { present.contains($0.record.id) }
    let logins = Set(removals.filter { $0.record.field == nil }.map(\.record.loginPlace))
    removals.removeAll { $0.record.field != nil && logins.contains($0.record.loginPlace) }
    if removals.isEmpty {
      call.console.say("No deleted item can be restored.")
      return .done
    }
    let isTerminal = call.console.outputIsTerminal
    var table = Table(
      ["deleted", "id", "item", "label", "who"], isTerminal: isTerminal,
      width: isTerminal ? call.console.width : nil, hasColor: call.environment.allowsColor)
    for removal in removals {
      let record = removal.record
      if call.globals.json {
        let members = RecordMembers.of(record).filter { !["author", "deleted"].contains($0.name) }
        call.console.write(
          members + [
            JSONMember("author", .string(removal.author)),
            JSONMember("deleted", .string(removal.time.rfc3339)),
          ])
        continue
      }
      let time = removal.time.rfc3339
      let field = record.field.map { " --field \($0)" } ?? ""
      table.add([
        Array((isTerminal ? removal.time.day : time).utf8), Array("#\(record.id.hex.prefix(12))".utf8),
        record.shortName + Array(field.utf8), record.attributes[.label]?.shownBytes ?? [],
        Array(removal.author.utf8),
      ])
    }
    call.console.write(table)
    call.console.say("hint: `keytree undelete ITEM` restores one; give the id if several had the name.")
    return .done
  }

  /// The largest number of ids that are searched for; for more, all items are read.
  private static let few = 32

  private static func presentIDs(among ids: [ItemID], in index: Index) throws -> Set<ItemID> {
    if ids.count > few {
      var all = Query()
      all.includesFields = true
      return Set(try index.find(all).items.map(\.id))
    }
    return Set(try index.find(ids.map { Query(predicates: [.id($0)]) }).flatMap(\.items).map(\.id))
  }

  /// Returns the one selected deleted item, and the fields that were deleted together with it.
  private static func deletedItems(
    _ call: CommandCall, _ selection: ItemSelection, _ keyring: Keyring, _ repository: Repository
  ) throws -> [HistoricalItem] {
    let removals = try call.removals(selection, repository)
    var deleted: [ItemRecord] = []
    var ids: Set<ItemID> = []
    for record in selection.selected(among: removals.map(\.record)) where ids.insert(record.id).inserted {
      // An item that was renamed, or that is now kept only on this machine, is not deleted.
      if try isGone(record, keyring.index) { deleted.append(record) }
    }
    guard let record = try call.single(deleted) else {
      let isThere = try !call.find(selection, in: keyring.index).items.isEmpty
      throw CommandError.other(
        .notFound, message: "no deleted item matches \(call.nameForMessages(0))",
        hint: isThere
          ? "it is in the store; `keytree history ITEM` shows its older versions"
          : "`keytree undelete` lists the deleted items")
    }
    // A verified version must have had the name, although the last one may have had another.
    let named = removals.filter { selection.accepts($0.record) }
    _ = try lastVersions(of: record.id, named, keyring, repository, call)
    let everywhere = try RemovedItems(below: [StoreLayout.items], in: repository).removals
    let versions = everywhere.filter { $0.record.id == record.id }
    let login = try chosen(of: lastVersions(of: record.id, versions, keyring, repository, call), call)
    if login.record.field != nil { return [login] }
    // A merge may have removed the same version again on the other branch.
    let steps = Set(versions.filter { $0.record == login.record }.map(Step.init))
    let query = Query.fields(of: login.record)
    let fields = everywhere.filter { steps.contains(Step($0)) && query.matches($0.record) }
    var items = [login]
    let byField = Dictionary(grouping: fields, by: \.record.id).values
      .sorted { $0[0].record.path.text < $1[0].record.path.text }
    for versions in byField where try isGone(versions[0].record, keyring.index) {
      do {
        let last = try lastVersions(of: versions[0].record.id, versions, keyring, repository, call)
        if let field = last.first(where: { $0.record.group == login.record.group }) { items.append(field) }
      } catch {
        // The login is restored without a field that cannot be verified.
        let name = call.name(of: versions[0].record)
        call.console.complain("keytree: warning: did not restore \(name)")
        for line in ErrorReport(describing: error).lines { call.console.complain(line) }
      }
    }
    return items
  }

  /// A commit that has removed records, and its parent.
  private struct Step: Hashable {
    let commit: String
    let parent: String

    init(_ removal: RemovedItems.Removal) { (commit, parent) = (removal.commit, removal.parent) }
  }

  private static func isGone(_ record: ItemRecord, _ index: Index) throws -> Bool {
    try index.find(Query(predicates: [.id(record.id)], limit: .one)).items.isEmpty
  }

  /// Returns the one selected version. A member of another group may have signed and removed a version with the id of
  /// an item of this group. The group is therefore not taken from the last version: the user must name it.
  ///
  /// - Throws: `ambiguous` with the last version of each group; a usage error.
  private static func chosen(
    of versions: [HistoricalItem], _ call: CommandCall
  ) throws -> HistoricalItem {
    if versions.count == 1 { return versions[0] }
    let group = try call.givenAttributes().group
    let name = try call.itemName(0)
    let wanted = versions.filter { version in
      if let group { return version.record.group == group }
      if case .reference(.path(let path)) = name { return version.record.path == path }
      return false
    }
    if wanted.count == 1 { return wanted[0] }
    throw CommandError.ambiguous(call.nameForMessages(0), candidates: versions.map(\.record.reference.text))
  }

  /// Returns the newest verified versions of a deleted item, one for each of its groups. Anyone who can push can add
  /// and remove a record, so the record that was removed last may not be valid.
  ///
  /// - Throws: `KeyringError` or `SyncError` with the error of the last one, if no version can be verified.
  private static func lastVersions(
    of id: ItemID, _ removals: [RemovedItems.Removal], _ keyring: Keyring, _ repository: Repository,
    _ call: CommandCall
  ) throws -> [HistoricalItem] {
    let signs = call.arguments.has(sign)
    var last: [String: HistoricalItem] = [:]
    var failure: KeyringError?
    for removal in removals where removal.record.id == id {
      do {
        guard let store = try HistoricalStore(at: removal.parent, in: repository) else { continue }
        let path = removal.record.path
        let files =
          try signs ? store.itemByRevokedKey(at: path, in: keyring) : store.item(at: path, in: keyring)
        let group = files.record.group
        if last[group].map({ $0.record.modified < files.record.modified }) ?? true { last[group] = files }
      } catch let error as KeyringError {
        failure = failure ?? error
      }
    }
    if last.isEmpty { throw failure ?? KeyringError.itemNotFound }
    return last.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Asks before versions are restored that a compromised subkey has signed, unless the user has given its fingerprint.
  private static func confirm(_ items: [HistoricalItem], _ keyring: Keyring, _ call: CommandCall) throws {
    let given = try call.arguments.text(sign).map { text in
      guard let key = TeamPeople.fingerprint(text) else {
        throw call.misuse(.other("`--sign` takes all 40 or 64 digits of the fingerprint of a revoked subkey"))
      }
      return key
    }
    let doubtful = items.filter { $0.compromised != nil && $0.compromised != given }
    guard let key = doubtful.first?.compromised else { return }
    for item in doubtful {
      call.console.complain(
        "\(call.name(of: item.record)) was signed with \(item.compromised?.text ?? ""), a revoked subkey of "
          + "\(keyring.policy.name(of: item.signer)), on \(item.record.modified.day)")
    }
    try call.console.require(
      "Have you checked with that person that they made this version", otherwise: "nothing was restored",
      ifImpossible: CommandError.other(
        .cancelled, message: "nothing was restored: a version by a compromised subkey must be confirmed",
        hint: "check with that person that they made it, and give `--sign=\(key.text)`"))
  }

  private static func isTaken(_ record: ItemRecord) -> CommandError {
    .other(
      .alreadyExists,
      message: "cannot restore \(record.reference.spokenName): another item has its name",
      hint:
        "rename that item with `keytree mv`; `keytree history \(ItemReference.id(record.id).text)` shows the versions "
        + "of the deleted one")
  }
}
