internal import KeyringModel
internal import OpenPGP

/// Repairs a store in one transaction. It quarantines files that do not belong to a store, moves items to the paths
/// that their records name, keeps one version of an item that exists at several paths, and rebuilds the index from the
/// records. Needs no secret key.
struct StoreRepair {
  private let keyring: Keyring
  private let quarantine: String
  private var repairs: [Repair] = []
  /// The removed lines by shard file. Their bytes are kept in the quarantine folder.
  private var removedLines: [String: [[UInt8]]] = [:]
  /// The records from which the index is rebuilt.
  private var records: [ItemRecord] = []
  /// The paths of versions that became conflict copies. Their removed lines are not quarantined.
  private var resolved: Set<ItemPath> = []

  /// A move of an item's two files to the path that the record names.
  private struct Move {
    let from: StoreSurvey.ItemFiles
    let record: ItemRecord
    let bytes: [UInt8]
    let message: [UInt8]
    /// The encrypted file at the path that the record names.
    var target: String { StoreLayout.itemFile(record.path, isLocal: record.isLocal) }
  }

  init(keyring: Keyring, quarantine: String) {
    self.keyring = keyring
    self.quarantine = quarantine
  }

  /// Repairs the problems in a survey.
  ///
  /// - Returns: The repairs, in the order in which they were made.
  mutating func run(
    _ survey: StoreSurvey, under lock: borrowing StoreLock, progress: (Int, Int) -> Void
  ) throws(KeyringError) -> [Repair] {
    var moves: [(from: String, to: String)] = []
    for stray in survey.findings {
      switch stray.kind {
      // A shard that is too large to read is quarantined as it is. A new one is then made from the records.
      case .stray, .shard(.tooLarge): break
      default: continue
      }
      // A name that is not UTF-8 cannot be passed back to the system, so the file stays in place and is reported again.
      guard try Keyring.isThere(stray.path, in: keyring.tree) else { continue }
      moves.append((stray.path, "\(quarantine)/\(stray.path)"))
    }
    let returning = try readRecords(survey, progress)
    let copies = try resolveDuplicates(but: returning)
    var transaction = Transaction(in: keyring.tree)
    do {
      for (from, to) in moves {
        transaction.move(from, to: to)
        repairs.append(.quarantined(path: from, to: to))
      }
      let targets = Set(returning.map(\.target))
      for move in returning {
        let record = move.record
        try transaction.place(move.message, at: move.target)
        try transaction.place(move.bytes, at: StoreLayout.recordFile(record.path, isLocal: record.isLocal))
        // The files of another item that moves here replace these.
        if !targets.contains(move.from.file) {
          transaction.remove(move.from.file)
          transaction.remove(move.from.recordFile)
        }
        repairs.append(.movedItem(from: move.from.file, to: move.target))
      }
      for copy in copies {
        let digest = ContentDigest(of: copy.file.line)
        let record = copy.file.record
        for (ending, bytes) in [
          (StoreLayout.secretExtension, copy.message), (StoreLayout.recordExtension, copy.file.bytes),
        ] { try transaction.place(bytes, at: StoreLayout.conflictFile(record.id, digest, ending)) }
        transaction.remove(StoreLayout.itemFile(record.path, isLocal: false))
        transaction.remove(StoreLayout.recordFile(record.path, isLocal: false))
        repairs.append(.keptAsConflictCopy(path: StoreLayout.itemFile(record.path, isLocal: false)))
      }
      try rewriteShards(survey.shards, &transaction)
      try rewritePassRecipients(&transaction)
    } catch {
      transaction.abandon()
      throw error
    }
    try transaction.commit(under: lock, subject: "repair the keyring")
    return repairs
  }

  /// Builds the index anew from the records, and changes nothing else.
  ///
  /// - Returns: True if it was different.
  mutating func rebuildIndex(
    _ survey: StoreSurvey, under lock: borrowing StoreLock
  ) throws(KeyringError) -> Bool {
    // Items that `check --repair` moves stay where they are.
    let moved = try readRecords(survey) { _, _ in }.map(\.record)
    records.removeAll(where: moved.contains)
    var transaction = Transaction(in: keyring.tree)
    do {
      try rewriteShards(survey.shards, &transaction)
    } catch {
      transaction.abandon()
      throw error
    }
    if transaction.isEmpty { return false }
    try transaction.commit(under: lock, subject: "rebuild the index")
    return true
  }

  // MARK: Records

  /// Reads all records, verified or not. The index lists both, because nothing relies on it.
  ///
  /// - Returns: The items to move to the path that their records name.
  private mutating func readRecords(
    _ survey: StoreSurvey, _ progress: (Int, Int) -> Void
  ) throws(KeyringError) -> [Move] {
    let reader = ItemReader(keyring: keyring)
    let lines = LineTable(survey.shards)
    var misplaced: [Move] = []
    for (number, item) in survey.items.enumerated() {
      progress(number, survey.items.count)
      guard item.hasRecord, let bytes = try reader.readableRecord(at: item.path, isLocal: item.isLocal),
        // The check that follows reports a record that cannot be read.
        let file = try? RecordFile(parsing: bytes)
      else { continue }
      guard file.record.path == item.path else {
        if let move = try move(of: item, file, reader) { misplaced.append(move) }
        continue
      }
      let record = file.record.located(item.isLocal)
      records.append(record)
      if lines[item.file] != record { repairs.append(.rebuiltLine(record.reference)) }
    }
    progress(survey.items.count, survey.items.count)
    let moves = Self.possible(misplaced, among: survey.items)
    for move in moves {
      records.append(move.record)
      if lines[move.target] != move.record { repairs.append(.rebuiltLine(move.record.reference)) }
    }
    return moves
  }

  /// Returns the move of two files to the path that their record names; nil if the item is not verified and complete.
  private func move(
    of item: StoreSurvey.ItemFiles, _ file: RecordFile, _ reader: ItemReader
  ) throws(KeyringError) -> Move? {
    let claim = RecordClaim(file.bytes, path: file.record.path, isLocal: item.isLocal)
    // Only an item that a member has signed is moved.
    guard case .success(let verified) = try keyring.verifier.verify(claim),
      let message = try reader.message(at: item.path, isLocal: item.isLocal),
      ContentDigest(of: message) == verified.record.sealed
    else { return nil }
    return Move(from: item, record: verified.record, bytes: file.bytes, message: message)
  }

  /// Returns the moves whose targets are free, or become free because the item there moves as well.
  private static func possible(_ wanted: [Move], among items: [StoreSurvey.ItemFiles]) -> [Move] {
    var moves: [Move] = []
    var targets: Set<String> = []
    for move in wanted where targets.insert(move.target).inserted { moves.append(move) }
    while true {
      let taken = Set(items.map(\.file)).subtracting(moves.map(\.from.file))
      let free = moves.filter { !taken.contains($0.target) }
      if free.count == moves.count { return moves }
      moves = free
    }
  }

  // MARK: Duplicates

  /// One of several versions of an item, as it was signed.
  private struct DuplicateVersion {
    let file: RecordFile
    let message: [UInt8]
  }

  /// Resolves items that exist at several paths, which happens when git merges file by file and both sides have renamed
  /// an item. The rules for a merge without a common ancestor determine which version keeps its path. Unverified
  /// versions stay where they are.
  ///
  /// - Parameter moves: Items that are being moved to another path. Their versions are not resolved here.
  /// - Returns: The versions to keep as conflict copies.
  private mutating func resolveDuplicates(but moves: [Move]) throws(KeyringError) -> [DuplicateVersion] {
    let moving = Set(moves.map(\.record.path))
    var copies: [DuplicateVersion] = []
    // The group is part of the key: ids are not secret, so a member of another group could sign a record with this id.
    let byItem = Dictionary(grouping: records.filter { !$0.isLocal }) { "\($0.id.hex) \($0.group)" }
    for versions in byItem.values where versions.count > 1 {
      var found: [ItemPath: DuplicateVersion] = [:]
      for path in versions.map(\.path) where !moving.contains(path) { found[path] = try believed(at: path) }
      let sorted = found.values.map(\.file.record).sorted { $0.path < $1.path }
      guard var winner = sorted.first else { continue }
      for other in sorted.dropFirst() {
        var merge = StoreMerge()
        // A repair must not need a secret key, so the merge must not create a record to sign.
        merge.canSign = { _, _, _ in false }
        winner = merge.merge(base: [], ours: [winner], theirs: [other]).items.first?.record ?? winner
      }
      copies += found.filter { $0.key != winner.path }.map(\.value)
    }
    let gone = Set(copies.map(\.file.record.path))
    resolved = gone
    records.removeAll { !$0.isLocal && gone.contains($0.path) }
    repairs.removeAll { repair in
      guard case .rebuiltLine(.path(let path)) = repair else { return false }
      return gone.contains(path)
    }
    return copies.sorted { $0.file.record.path < $1.file.record.path }
  }

  /// Returns the version at a path if its record and its encrypted file are verified.
  private func believed(at path: ItemPath) throws(KeyringError) -> DuplicateVersion? {
    let reader = ItemReader(keyring: keyring)
    guard let bytes = try reader.readableRecord(at: path, isLocal: false),
      case .success(let verified) = try keyring.verifier.verify(RecordClaim(bytes, path: path)),
      // The check that follows reports a path that is not a file.
      let message = try? reader.message(at: path, isLocal: false),
      try keyring.fault(of: verified, message) == nil
    else { return nil }
    return DuplicateVersion(file: verified.file, message: message)
  }

  private mutating func rewritePassRecipients(_ transaction: inout Transaction) throws(KeyringError) {
    let path = StoreLayout.passRecipients
    let wanted = keyring.policy.passRecipients
    let bytes: [UInt8]?
    do throws(FileError) {
      bytes = try keyring.tree.read(path, limit: StoreLayout.smallFileLimit)
    } catch {
      guard case .system = error.reason else { return }
      throw .file(error)
    }
    if bytes == wanted { return }
    try transaction.place(wanted, at: path)
    repairs.append(.rewrotePassRecipients)
  }

  // MARK: Shards

  private mutating func rewriteShards(
    _ surveyed: [StoreSurvey.SurveyedShard], _ transaction: inout Transaction
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

  /// Collects the lines of the old shard whose items are not in the new one.
  private mutating func collectRemoved(_ old: Shard, _ new: Shard?, _ file: String) {
    var kept: Set<ItemPath> = []
    for line in old.lines {
      if let path = line.path, !kept.contains(path), new?.record(path: path) != nil {
        kept.insert(path)
        continue
      }
      if let path = line.path, resolved.contains(path), !file.hasPrefix("\(StoreLayout.local)/") { continue }
      removedLines[file, default: []].append(line.bytes)
      repairs.append(.removedLine(file: file, number: line.number))
    }
  }
}
