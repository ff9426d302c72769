internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Works out what a store should look like, and brings it there in one transaction.
struct StoreRepair {
  private let keyring: Keyring
  private let quarantine: String
  private let decrypts: Bool
  private var repairs: [Repair] = []
  /// Lines that are taken out, by shard file: their bytes are kept in the quarantine folder.
  private var removedLines: [String: [[UInt8]]] = [:]

  init(keyring: Keyring, quarantine: String, decrypts: Bool) {
    self.keyring = keyring
    self.quarantine = quarantine
    self.decrypts = decrypts
  }

  /// Repairs what the survey shows.
  ///
  /// - Returns: what was done, in the order of paths.
  mutating func run(
    _ survey: StoreSurvey, under lock: borrowing StoreLock, progress: (Int, Int) -> Void
  ) throws(KeyringError) -> [Repair] {
    var moves: [(from: String, to: String)] = []
    for stray in survey.findings {
      switch stray.kind {
      // A shard that is too large to be read is put aside as it is, before one is made from the items.
      case .stray, .shard(.tooLarge): break
      default: continue
      }
      // A name that is not UTF-8 cannot be given back to the system; it stays, and stays reported.
      guard try files(keyring.tree.status(stray.path)) != nil else { continue }
      moves.append((stray.path, "\(quarantine)/\(stray.path)"))
    }
    let hints = LineHints(survey.shards)
    var outcome = try RepairPlan(survey.itemFiles) { [self] item throws(KeyringError) in
      try look(at: item, hints)
    }(progress)
    try settleSharedIDs(&outcome)

    var transaction = Transaction(in: keyring.tree)
    do {
      for path in outcome.quarantined { moves.append((path, "\(quarantine)/\(path)")) }
      for (from, to) in moves {
        transaction.move(from, to: to)
        repairs.append(.quarantined(path: from, to: to))
      }
      for move in outcome.moved {
        try transaction.place(move.message, at: move.to)
        repairs.append(.movedItem(from: move.from, to: move.to))
      }
      let targets = Set(outcome.moved.map(\.to))
      for move in outcome.moved where !targets.contains(move.from) { transaction.remove(move.from) }
      repairs += outcome.rebuilt.map { .rebuiltLine($0) }
      try rewriteShards(survey.shards, outcome.records, &transaction)
    } catch {
      transaction.abandon()
      throw error
    }
    try transaction.commit(under: lock, subject: "repair the keyring")
    return repairs
  }

  /// What can be said about one item file.
  private func look(
    at item: StoreSurvey.ItemFile, _ hints: LineHints
  ) throws(KeyringError) -> RepairPlan.Look {
    let reader = ItemReader(keyring: keyring)
    let lines = hints.lines(for: item.file)
    let message: [UInt8]
    do {
      guard let bytes = try keyring.tree.read(item.file, limit: StoreLayout.sealedItemLimit) else {
        return .unreadable(lines.first)
      }
      message = bytes
    } catch {
      guard case .tooLarge = error.reason else { throw .file(error) }
      return .unreadable(lines.first)
    }
    let digest = ContentDigest(of: message)
    let described = lines.first { $0.sealed == digest }
    if let described, !decrypts { return .inOrder(described) }
    do {
      let header = try reader.unseal(message, reference: .path(item.path)).header
      guard header.keyring == keyring.policy.keyring else {
        return described.map { .unreadable($0) } ?? .foreign
      }
      var record = Self.record(header.record(sealed: digest), at: item, hints)
      record.isLocal = item.isLocal
      let line = hints.line(id: record.id)
      let own = lines.first { $0.id == record.id }
      // Somebody has put an older secret back. The line is all that tells of it, so it stays, and so does the finding.
      // Where the item has its line elsewhere, nothing speaks for this file, and it is put aside.
      if let line, line.revision != record.revision, line.secretModified > record.secretModified {
        guard let own else { return .foreign }
        let isOlder = own.revision != record.revision && own.secretModified > record.secretModified
        if isOlder { return .unreadable(own) }
      }
      let merged = (own ?? line).map { record.merging(line: $0) } ?? record
      return .says(merged, message, isNew: merged != described)
    } catch {
      switch error {
      // What a newer version wrote is not judged by this one.
      case .itemDamaged(_, .unknownFormat): return .unreadable(lines.first)
      case .itemDamaged: return lines.first.map { .unreadable($0) } ?? .foreign
      case .engine(let error, _) where error.isAboutTheItem: return .unreadable(lines.first)
      default: throw error
      }
    }
  }

  /// The record for a header at the place where it was found: in a conflict copy's it is a copy of what the header
  /// says.
  private static func record(
    _ said: ItemRecord, at item: StoreSurvey.ItemFile, _ hints: LineHints
  ) -> ItemRecord {
    let place = item.path.original
    guard let copyID = item.path.copyID, !said.isConflictCopy, said.path == place else { return said }
    if said.id == copyID {
      let holder = hints.lines(for: StoreLayout.itemFile(place, isLocal: item.isLocal)).first
      let line = hints.line(id: copyID)
      return said.conflicting(with: line?.conflictOf ?? holder?.id ?? copyID)
    }
    guard copyID.isCopy(of: said.id) else { return said }
    var copy = said.conflicting(with: said.id)
    copy.id = copyID
    return copy
  }

  /// Makes conflict copies of items that have the id of another one: plain git keeps both sides of a change of the
  /// primary key.
  private func settleSharedIDs(_ outcome: inout RepairPlan.Outcome) throws(KeyringError) {
    var places: Set<String> = []
    outcome.records.removeAll { record in
      !places.insert(StoreLayout.itemFile(record.path, isLocal: record.isLocal)).inserted
    }
    for (_, versions) in Dictionary(grouping: outcome.records, by: \.id) where versions.count > 1 {
      let sorted = versions.sorted { $0.isLater(than: $1, bySecret: true) }
      for version in sorted.dropFirst() where version.isLocal == sorted[0].isLocal {
        let file = StoreLayout.itemFile(version.path, isLocal: version.isLocal)
        let moved = outcome.moved.firstIndex { $0.to == file }
        let message =
          if let moved { outcome.moved[moved].message } else {
            try files { () throws(FileError) in
              try keyring.tree.read(file, limit: StoreLayout.sealedItemLimit)
            }
          }
        // Without its file there is no version to keep.
        guard let message else { continue }
        var copy = version.conflictCopy
        copy.isLocal = version.isLocal
        let target = StoreLayout.itemFile(copy.path, isLocal: copy.isLocal)
        if let moved {
          outcome.moved[moved] = RepairPlan.Move(
            from: outcome.moved[moved].from, to: target, message: message)
        } else {
          outcome.moved.append(RepairPlan.Move(from: file, to: target, message: message))
        }
        outcome.records.removeAll { $0 == version }
        outcome.records.append(copy)
      }
    }
  }

  // MARK: Shards

  private mutating func rewriteShards(
    _ surveyed: [StoreSurvey.SurveyedShard], _ records: [ItemRecord], _ transaction: inout Transaction
  ) throws(KeyringError) {
    var wanted: [String: Shard] = [:]
    for record in records {
      let file = StoreLayout.shardFile(record.path.shard, isLocal: record.isLocal)
      do {
        try wanted[file, default: Shard(parsing: [], number: record.path.shard)].put(record)
      } catch {
        throw .shardRefused(file: file, error)
      }
    }
    var old: [String: Shard] = [:]
    for shard in surveyed { old[shard.file] = shard.shard }
    for file in Set(wanted.keys).union(old.keys).sorted() {
      let new = wanted[file]
      let newBytes = new?.encode() ?? []
      let oldBytes = old[file]?.encode() ?? []
      if newBytes == oldBytes && (old[file]?.problems.isEmpty ?? true) { continue }
      if let old = old[file] { collectRemoved(old, new, file) }
      try transaction.place(newBytes, at: file)
      repairs.append(.rewroteShard(file: file))
    }
    for (file, lines) in removedLines.sorted(by: { $0.key < $1.key }) {
      let kept = "\(quarantine)/\(file)"
      try transaction.place(
        Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")], at: kept)
    }
  }

  /// Notes the lines that are in the old shard and whose item is no longer described by it.
  private mutating func collectRemoved(_ old: Shard, _ new: Shard?, _ file: String) {
    var kept: Set<ItemID> = []
    for line in old.lines {
      if case .success(let record) = line.content, !kept.contains(record.id),
        new?.record(id: record.id)?.path == record.path
      {
        kept.insert(record.id)
        continue
      }
      removedLines[file, default: []].append(line.bytes)
      repairs.append(.removedLine(file: file, number: line.number))
    }
  }
}

extension ItemRecord {
  /// The record of a sealed item's header with what a line says that is newer.
  ///
  /// Attributes outside of the primary key may be edited in the index alone; the later edit counts.
  fileprivate func merging(line: ItemRecord) -> ItemRecord {
    guard line.primaryKey == primaryKey, line.modified >= modified else { return self }
    var merged = line
    merged.isLocal = isLocal
    merged.revision = revision
    merged.secretModified = secretModified
    merged.sealed = sealed
    return merged
  }
}

/// The lines of all shards, doubles included, as hints about the items.
struct LineHints {
  private var byFile: [String: [ItemRecord]] = [:]
  private var byID: [ItemID: ItemRecord] = [:]

  init(_ shards: [StoreSurvey.SurveyedShard]) {
    for shard in shards {
      for case .success(var record) in shard.shard.lines.map(\.content) {
        record.isLocal = shard.isLocal
        byFile[StoreLayout.itemFile(record.path, isLocal: shard.isLocal), default: []].append(record)
        if byID[record.id].map({ $0.modified < record.modified }) ?? true { byID[record.id] = record }
      }
    }
    for file in byFile.keys { byFile[file]?.sort { $0.modified > $1.modified } }
  }

  /// The lines that describe a file, the newest first.
  func lines(for file: String) -> [ItemRecord] { byFile[file] ?? [] }

  /// The newest line of an item.
  func line(id: ItemID) -> ItemRecord? { byID[id] }
}
