internal import Keyring
internal import KeyringModel

/// The items of a remote as they count in a merge: a change that is not believed counts as if it had not been made.
struct IncomingItems {
  /// The items by their places.
  private(set) var items: [ItemPath: VerifiedRecord] = [:]
  /// The changes that are not taken.
  private(set) var refused: [RefusedChange] = []
  /// The places of new encrypted files without a record.
  private(set) var notAdopted: [ItemPath] = []
  /// Versions that are not taken and become conflict copies, because members have signed them.
  private(set) var copies: [VerifiedRecord] = []
  /// Versions among them that the remote has put back.
  private(set) var olderVersions: [ItemRecord] = []

  private let base: [ItemPath: VerifiedRecord]
  /// The items of our side by their places.
  private let mine: [ItemPath: VerifiedRecord]
  private let files: ItemFiles
  private let theirs: String
  private let ours: String

  /// Takes the changes that members have signed.
  ///
  /// - Parameters:
  ///   - contents: What the remote has.
  ///   - base: The versions that both sides come from.
  ///   - mine: What our side has.
  ///   - files: The files of all of them.
  ///   - theirs: The commit of the remote.
  ///   - ours: The commit of our side.
  init(
    _ contents: [ItemPath: ItemFiles.Content], base: [ItemPath: VerifiedRecord],
    mine: [ItemPath: ItemFiles.Content], in files: ItemFiles, of theirs: String, instead ours: String
  ) {
    (self.base, self.files, self.theirs, self.ours) = (base, files, theirs, ours)
    self.mine = mine.compactMapValues(\.verified)
    for path in files.paths.sorted() {
      switch contents[path] {
      case nil: break
      case .verified(let record): items[path] = record
      case .notAdopted where base[path] == nil && mine[path] == nil: notAdopted.append(path)
      case .notAdopted:
        refuse(path, .damage(.noRecord))
        items[path] = base[path]
      case .distrusted(let fault):
        refuse(path, fault)
        items[path] = base[path]
      }
    }
  }

  private mutating func refuse(_ path: ItemPath, _ fault: RecordProblem) {
    // What was there before, and what is here as well, is not their change.
    if files.areSame(path, at: theirs, and: ours) { return }
    refused.append(RefusedChange(path: ItemFiles.recordFile(path), reason: .record(fault)))
  }

  /// The items of the store that have the id of one that comes in, at places that neither side has changed: an older
  /// version can be put back beside the newer one.
  ///
  /// - Throws: `KeyringError` when the index cannot be read.
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
  ///   - moves: The decision.
  ///   - others: The items of ``knownElsewhere(in:)``.
  /// - Throws: as `GroupMoves.refused(among:comparedWith:)`.
  mutating func refuseForeignMoves(by moves: GroupMoves, _ others: [ItemRecord]) throws {
    var known = Dictionary(grouping: base.values.map(\.record), by: \.id)
    let present = Dictionary(grouping: mine.values.map(\.record) + others, by: \.id)
    for (id, versions) in present where known[id] == nil { known[id] = versions }
    for version in try moves.refused(among: items.values, comparedWith: known) {
      refuse(version.record.path, .mismatch(.unauthorizedMove))
      takeBack(version)
    }
  }

  /// Makes conflict copies of versions that the remote has put back; the newer versions stay.
  ///
  /// - Parameters:
  ///   - rollbacks: The decision.
  ///   - others: The items of ``knownElsewhere(in:)``.
  /// - Throws: as `RolledBackItems.find(among:comparedWith:_:)`.
  mutating func setAside(_ rollbacks: RolledBackItems, _ others: [ItemRecord]) throws {
    let known = Set(mine.values.map(\.record.id) + others.map(\.id))
    for version in try rollbacks.find(among: items, comparedWith: base, known.contains) {
      takeBack(version)
      olderVersions.append(version.record)
    }
  }

  /// Takes a change of an item back: its place and its item are as in the base.
  private mutating func takeBack(_ version: VerifiedRecord) {
    items[version.record.path] = base[version.record.path]
    for (path, old) in base where old.record.id == version.record.id && items[path] == nil {
      items[path] = old
    }
    copies.append(version)
  }
}
