internal import Keyring
internal import KeyringModel

/// The items of a remote that take part in a merge. A change that is not verified is treated as if it had not been
/// made.
struct IncomingItems {
  /// The items by path.
  private(set) var items: [ItemPath: VerifiedRecord] = [:]
  /// The refused changes.
  private(set) var refused: [RefusedChange] = []
  /// The paths at which neither side has an item, but one has an encrypted file without a record.
  private(set) var notAdopted: [ItemPath] = []
  /// The paths at which this side has an item, and the remote has added an encrypted file without a record.
  private(set) var obstructed: [ItemPath] = []
  /// The paths of items whose encrypted file another program has changed on the remote.
  private(set) var changed: [ItemPath] = []
  /// Refused versions that become conflict copies, because members have signed them.
  private(set) var copies: [VerifiedRecord] = []
  /// The versions among them that the remote has rolled back to.
  private(set) var olderVersions: [ItemRecord] = []
  /// Versions of the merge base that become conflict copies, because all clones choose older versions that the
  /// remote has restored.
  private(set) var replaced: [VerifiedRecord] = []

  private let base: [ItemPath: VerifiedRecord]
  /// The last versions that members have signed of items that no member has signed in the merge base.
  private let hidden: [ItemPath: VerifiedRecord]
  /// The versions of the merge base, and the hidden ones.
  private let signed: [ItemPath: VerifiedRecord]
  /// The local items by path.
  private let mine: [ItemPath: VerifiedRecord]
  private let files: ItemFiles
  private let theirs: String
  private let ours: String
  private let baseCommit: String

  /// Accepts the changes that members have signed.
  ///
  /// - Parameters:
  ///   - contents: The items of the remote.
  ///   - base: The versions of the merge base.
  ///   - hidden: The last versions that members have signed of items that no member has signed in the merge base.
  ///   - mine: The local items.
  ///   - files: The files of all these items.
  ///   - theirs: The commit of the remote.
  ///   - ours: The local commit.
  ///   - baseCommit: The merge base.
  init(
    _ contents: [ItemPath: ItemFiles.Content], base: [ItemPath: VerifiedRecord],
    hidden: [ItemPath: VerifiedRecord], mine: [ItemPath: ItemFiles.Content], in files: ItemFiles,
    of theirs: String, instead ours: String,
    since baseCommit: String
  ) {
    (self.base, self.hidden, self.files) = (base, hidden, files)
    (self.theirs, self.ours, self.baseCommit) = (theirs, ours, baseCommit)
    self.mine = mine.compactMapValues(\.verified)
    signed = base.merging(hidden) { version, _ in version }
    for path in files.paths.sorted() {
      let isUnchanged = files.secretName(path, at: theirs) == files.secretName(path, at: baseCommit)
      let isFree = base[path] == nil && (mine[path]?.isNotAdopted ?? true)
      switch contents[path] {
      case nil where isFree, .notAdopted where isFree: notAdopted.append(path)
      case nil: break
      case .verified(let record): items[path] = record
      case .changed(let record):
        items[path] = record
        if !isUnchanged, !files.areSame(path, at: theirs, and: ours) { changed.append(path) }
      case .notAdopted where base[path] == nil:
        if !isUnchanged { obstructed.append(path) }
      case .notAdopted:
        refuse(path, .damage(.noRecord))
        items[path] = base[path]
      case .distrusted(let fault):
        refuse(path, fault)
        items[path] = base[path]
      }
    }
    restoreOldPlaces(ofRefused: contents)
  }

  /// Restores the items of the base whose move to another path was refused. Otherwise the move would count as the
  /// deletion of the item.
  private mutating func restoreOldPlaces(ofRefused contents: [ItemPath: ItemFiles.Content]) {
    for (path, content) in contents where content.isDistrusted {
      // A record that cannot be read is not a move.
      guard let bytes = files.record(path, at: theirs), let id = try? RecordFile(parsing: bytes).record.id
      else { continue }
      for (old, version) in base
      where version.record.id == id && contents[old] == nil && items[old] == nil {
        items[old] = version
      }
    }
  }

  private mutating func refuse(_ path: ItemPath, _ fault: RecordProblem) {
    // Files that are the same as in the local commit or in the merge base are not a change of the remote.
    if files.areSame(path, at: theirs, and: ours) || files.areSame(path, at: theirs, and: baseCommit) {
      return
    }
    refused.append(RefusedChange(path: ItemFiles.recordFile(path), reason: .record(fault)))
  }

  /// Returns the items of the store that have the id of an incoming item at a path that neither side has changed. A
  /// remote can add an older version of an item at another path than the newer one.
  ///
  /// - Throws: `KeyringError` if the index cannot be read.
  func knownElsewhere(in keyring: Keyring) throws -> [ItemRecord] {
    let own = Set(mine.values.map(\.record.id))
    let new = Set(items.values.map(\.record.id)).subtracting(own)
    if new.isEmpty { return [] }
    var query = Query()
    query.includesFields = true
    if new.count == 1, let id = new.first { query.predicates = [.id(id)] }
    let lines = try keyring.find(query).items.filter { line in
      !line.isLocal && new.contains(line.id) && items[line.path] == nil && mine[line.path] == nil
    }
    return try keyring.verifiedRecords(of: lines).map(\.record)
  }

  /// Refuses records that change the group of an item without the signature of a member of its old group.
  ///
  /// - Parameters:
  ///   - moves: The check of moves.
  ///   - others: The result of ``knownElsewhere(in:)``.
  /// - Throws: The errors of `GroupMoves.refused(among:comparedWith:)`.
  mutating func refuseForeignMoves(by moves: GroupMoves, _ others: [ItemRecord]) throws {
    var known = Dictionary(grouping: signed.values.map(\.record), by: \.id)
    let present = Dictionary(grouping: mine.values.map(\.record) + others, by: \.id)
    for (id, versions) in present where known[id] == nil { known[id] = versions }
    for version in try moves.refused(among: items.values, comparedWith: known) {
      refuse(version.record.path, .mismatch(.unauthorizedMove))
      takeBack(version)
    }
  }

  /// Turns older versions that the remote has restored into conflict copies, and keeps the newer versions.
  ///
  /// - Parameters:
  ///   - rollbacks: The search for rollbacks.
  ///   - others: The result of ``knownElsewhere(in:)``.
  /// - Throws: The errors of `RolledBackItems.find(among:comparedWith:_:_:)`.
  mutating func setAside(_ rollbacks: RolledBackItems, _ others: [ItemRecord]) throws {
    let known = Set(mine.values.map(\.record.id) + others.map(\.id))
    let found = try rollbacks.find(among: items, comparedWith: base, hidden, known.contains)
    for version in found.old {
      takeBack(version)
      olderVersions.append(version.record)
    }
    // If this side has another version, the merge compares it with that of the remote.
    replaced = found.replaced.filter { old in
      mine[old.record.path]?.record == old.record && items[old.record.path]?.record != old.record
    }
  }

  /// Reverts the change of an item, so that its path and its id are as they were last signed. The version becomes a
  /// conflict copy.
  private mutating func takeBack(_ version: VerifiedRecord) {
    items[version.record.path] = signed[version.record.path]
    for (path, old) in signed where old.record.id == version.record.id && items[path] == nil {
      items[path] = old
    }
    copies.append(version)
  }
}
