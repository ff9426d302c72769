internal import Encoding
package import Keyring
package import KeyringModel
internal import Secrets
internal import Sync
internal import Terminal

/// A historical item: `keytree get ITEM --at REV`.
///
/// The name leads to an id, and the id to the item in the commit, which may have had another name. Both steps start
/// from the index or from unverified records; ``secret(in:)`` verifies each of them.
package struct PastItem {
  /// The item in the commit; not verified.
  package let record: ItemRecord
  private let store: HistoricalStore
  private let selection: ItemSelection
  private let repository: Repository
  private let source: Source

  /// The source that leads from the name to the id of the item.
  private enum Source {
    /// The item had the name in the commit.
    case name
    /// An item of the store has the name now.
    case present(ItemRecord)
    /// An item had the name before it was removed.
    case removed(RemovedItems.Removal)
  }

  /// Finds an item in the history.
  ///
  /// The item that has the name now is followed by its id. If it does not exist in the commit, or no longer exists, the
  /// name refers to the item that had it in that commit.
  ///
  /// - Parameters:
  ///   - call: the command line.
  ///   - selection: the selection of the item.
  ///   - revision: the name of a commit, a time in the past, or the first digits of a revision of the item's secret.
  /// - Throws: `other` with `notFound` if the revision does not exist or the item is not in it; `noMatch`,
  ///   `ambiguous`, `GitError`, `SyncError`.
  package init(_ call: CommandCall, _ selection: ItemSelection, at revision: String) throws {
    let repository = try call.requireRepository()
    let index = try call.openIndex()
    (self.selection, self.repository) = (selection, repository)
    if let store = try HistoricalStore(at: revision, in: repository) {
      self.store = store
      (record, source) = try Self.record(call, selection, index, store, repository)
      return
    }
    if let time = Timestamp(past: revision, now: call.environment.clock()) {
      guard let store = try HistoricalStore(before: time, in: repository) else {
        throw CommandError.other(
          .notFound, message: "the history of the store begins after \(time.second)",
          hint: "`keytree history ITEM` shows when the item was added")
      }
      self.store = store
      (record, source) = try Self.record(call, selection, index, store, repository)
      return
    }
    guard let found = try Self.version(call, selection, index, revision, repository),
      let store = try HistoricalStore(at: found.commit, in: repository)
    else {
      throw CommandError.other(
        .notFound,
        message: "\(ErrorReport.quote(revision)) is neither a commit, a revision of this item nor a date",
        hint: "`keytree history ITEM` shows the revisions of an item; a date is `2026-11-01` or `3 days ago`")
    }
    self.store = store
    (record, source) = (found.record, found.source)
  }

  /// Verifies the item and every record that led to it, and decrypts it.
  ///
  /// - Throws: `KeyringError` with `itemDamaged` if the commit lacks a file or no member of the group, then or now, has
  ///   signed the record, with `bindingMismatch` if the name does not lead to the item, and with the other errors of reading
  ///   an item; `GitError`.
  package func secret(in keyring: Keyring) throws -> SecretBytes {
    let item = try store.item(at: record.path, in: keyring)
    let named: ItemRecord
    switch source {
    case .name:
      return try keyring.secret(of: item, matching: selection.query(for: record))
    case .present(let present):
      named = try keyring.verifiedRecord(of: present, matching: selection.query(for: present))
    case .removed(let removal):
      let last = try HistoricalStore(at: removal.parent, in: repository)?.item(
        at: removal.record.path, in: keyring)
      // The selection was compared with the first line of this same record.
      guard let last else { throw KeyringError.itemNotFound }
      named = last.record
    }
    guard named.id == item.record.id else {
      throw KeyringError.bindingMismatch(record.reference, .condition(.id))
    }
    return try keyring.secret(of: item)
  }

  private static func record(
    _ call: CommandCall, _ selection: ItemSelection, _ index: Index, _ store: HistoricalStore,
    _ repository: Repository
  ) throws -> (ItemRecord, Source) {
    let present = try call.find(one: selection, in: index)
    // Most items had the same name then, so that a few shards suffice.
    if let present,
      let then = try store.records(in: [present.path.shard]).first(where: { $0.id == present.id })
    {
      return (then, .present(present))
    }
    let records = try store.records()
    if let present, let then = records.first(where: { $0.id == present.id }) {
      return (then, .present(present))
    }
    let named = try call.single(selection.selected(among: records))
    if let named {
      if present != nil { call.console.say("Another item had this name in that commit: #\(named.id.hex).") }
      return (named, .name)
    }
    if present == nil {
      let removed = try call.removed(selection, repository)
      if let item = try call.single(removed.map(\.record)),
        let removal = removed.first(where: { $0.record.id == item.id }),
        let then = records.first(where: { $0.id == item.id })
      {
        return (then, .removed(removal))
      }
      if removed.isEmpty { throw try call.noMatch(selection, call.nameForMessages(0), in: index) }
    }
    throw CommandError.other(
      .notFound,
      message: "\(call.nameForMessages(0)) was not in the store in the commit \(store.commit.prefix(12))",
      hint: "`keytree history ITEM` shows when it was added")
  }

  /// Returns the latest version whose revision begins with the given digits.
  private static func version(
    _ call: CommandCall, _ selection: ItemSelection, _ index: Index, _ digits: String,
    _ repository: Repository
  ) throws -> (commit: String, record: ItemRecord, source: Source)? {
    let isHexadecimal = digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    guard isHexadecimal, (8...32).contains(digits.utf8.count) else { return nil }
    let (item, source) = try named(call, selection, index, repository)
    let history = try ItemHistory(of: item.id, from: item.path, in: repository)
    let versions = history.versions.compactMap { version in
      version.record.map { (commit: version.commit.name, record: $0) }
    }
    .filter { $0.record.revision.hex.hasPrefix(digits) }
    let revisions = Set(versions.map(\.record.revision.hex))
    guard revisions.count < 2 else { throw CommandError.ambiguous(digits, candidates: revisions.sorted()) }
    return versions.first.map { ($0.commit, $0.record, source) }
  }

  /// Returns the one item with the name, from the store or, if it is not there, from its history.
  private static func named(
    _ call: CommandCall, _ selection: ItemSelection, _ index: Index, _ repository: Repository
  ) throws -> (ItemRecord, Source) {
    if let present = try call.find(one: selection, in: index) { return (present, .present(present)) }
    let removed = try call.removed(selection, repository)
    guard let item = try call.single(removed.map(\.record)),
      let removal = removed.first(where: { $0.record.id == item.id })
    else { throw try call.noMatch(selection, call.nameForMessages(0), in: index) }
    return (item, .removed(removal))
  }
}
