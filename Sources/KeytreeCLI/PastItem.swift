internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Sync

/// An item as it was: `keytree get ITEM --at REV`.
struct PastItem {
  /// Its line in the commit.
  let record: ItemRecord
  private let store: PastStore

  /// Finds an item in the history.
  ///
  /// The item that has the name now is followed by its id. Where it was not there yet, or is gone, the name stands for
  /// what it stood for in that commit.
  ///
  /// - Parameters:
  ///   - call: the command line.
  ///   - selection: which item.
  ///   - revision: a name of a commit, or the first digits of a revision of the item's secret.
  /// - Throws: `other` with `notFound` for a name that means nothing and for an item that was not there; `noMatch`,
  ///   `ambiguous`, `git`, `sync`.
  init(_ call: CommandCall, _ selection: ItemSelection, at revision: String) throws(Failure) {
    let repository = try call.requireRepository()
    let index = try call.openIndex()
    if let store = try syncCall({ () throws(SyncError) in try PastStore(at: revision, in: repository) }) {
      self.store = store
      record = try Self.record(call, selection, index, store, repository)
      return
    }
    guard let found = try Self.version(call, selection, index, revision, repository),
      let store = try syncCall({ () throws(SyncError) in try PastStore(at: found.commit, in: repository) })
    else {
      throw .other(
        .notFound,
        message: "there is neither a commit nor a revision of this item at \(ErrorReport.quote(revision))",
        hint: "`keytree history ITEM` shows those of an item")
    }
    self.store = store
    record = found.record
  }

  /// Decrypts it.
  ///
  /// - Throws: `keyring` with `itemDamaged` when the commit lacks the file, and with all that can be wrong with an item;
  ///   `git`.
  func secret(in keyring: Keyring, matching query: Query?) throws(Failure) -> SecretBytes {
    let message = try syncCall { () throws(SyncError) in try store.message(of: record) }
    guard let message else { throw .keyring(.itemDamaged(record.reference, .missing)) }
    return try keyringCall(keyring.secret(in: message, of: record, matching: query))
  }

  private static func record(
    _ call: CommandCall, _ selection: ItemSelection, _ index: Index, _ store: PastStore,
    _ repository: Repository
  ) throws(Failure) -> ItemRecord {
    let present = try call.find(one: selection, in: index)
    let records = try syncCall { () throws(SyncError) in try store.records() }
    if let present, let then = records.first(where: { $0.id == present.id }) { return then }
    let named = try call.settleOne(selection, records.filter(selection.accepts))
    if let named {
      if present != nil { call.console.say("Another item had the name then: #\(named.id.hex).") }
      return named
    }
    if present == nil {
      let removed = try call.removed(selection, repository)
      if let item = try call.settleOne(selection, removed),
        let then = records.first(where: { $0.id == item.id })
      {
        return then
      }
      if removed.isEmpty { throw .noMatch(call.nameForMessages(0)) }
    }
    throw .other(
      .notFound,
      message: "\(call.nameForMessages(0)) was not in the store in the commit \(store.commit.prefix(12))",
      hint: "`keytree history ITEM` shows since when it is there")
  }

  /// The latest version with a revision that begins like this.
  private static func version(
    _ call: CommandCall, _ selection: ItemSelection, _ index: Index, _ digits: String,
    _ repository: Repository
  ) throws(Failure) -> (commit: String, record: ItemRecord)? {
    let isHexadecimal = digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    guard isHexadecimal, (8...32).contains(digits.utf8.count) else { return nil }
    let item = try call.findInHistory(selection, in: index, repository)
    let history = try syncCall { () throws(SyncError) in
      try ItemHistory(of: item.id, from: item.path, in: repository)
    }
    let versions = history.versions.compactMap { version in
      version.record.map { (commit: version.commit.name, record: $0) }
    }
    .filter { $0.record.revision.hex.hasPrefix(digits) }
    let revisions = Set(versions.map(\.record.revision.hex))
    guard revisions.count < 2 else { throw .ambiguous(digits, candidates: revisions.sorted()) }
    return versions.first
  }
}
