package import Keyring
internal import KeyringModel

/// Merges two commits of a store, by what its items are, and everything else by files.
package struct TreeMerge {
  /// A commit and what it has changed since the base.
  private struct Side {
    let commit: String
    let changes: TreeDifference
  }

  private let prefix: String
  private let objects: ObjectReader
  private let bases: [String]
  private let ours: Side
  private let theirs: Side
  private let keyring: Keyring
  /// Whether their policy and their key files count where both sides have changed them.
  package var takesTheirPolicy = false

  /// Prepares a merge.
  ///
  /// - Parameters:
  ///   - bases: The best common ancestors; the first one counts for files, all of them for items. A tree without
  ///     files when the sides have none.
  ///   - ours: The commit that is merged into; the store is as it says.
  ///   - theirs: The commit that is merged.
  ///   - repository: Where they are.
  ///   - keyring: The store, which seals what has to be sealed again.
  /// - Throws: `unsafePath` when their side has something where keytree keeps its own, a link or a module, or a name
  ///   that is not UTF-8; and as `Git.run`.
  package init(
    bases: [String], ours: String, theirs: String, in repository: Repository, keyring: Keyring
  ) throws(SyncError) {
    precondition(!bases.isEmpty, "sides with nothing in common have an empty tree for a base")
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
    self.bases = bases
    self.ours = Side(
      commit: ours, changes: try TreeDifference(from: bases[0], to: ours, in: repository.git))
    self.theirs = Side(
      commit: theirs, changes: try TreeDifference(from: bases[0], to: theirs, in: repository.git))
    self.keyring = keyring
    for (path, entry) in self.theirs.changes.entries { try Self.check(path, entry, below: prefix) }
  }

  /// Whether our side has changed nothing since the base.
  package var isFastForward: Bool { ours.changes.entries.isEmpty }

  /// The result.
  ///
  /// - Throws: `bothChanged` for files that are no items and differ in both; `lineRefused` when a line does not fit
  ///   into its file any more; and as `Git.run`.
  package func files() throws(SyncError) -> MergedFiles {
    var result = MergedFiles()
    var ofItems: Set<String> = []
    if !isFastForward { try mergeItems(into: &result, &ofItems) }
    try mergeFiles(into: &result, but: ofItems)
    return result
  }

  /// Refuses what must never come out of a repository: what would be taken for keytree's own or for a way out of the
  /// store (threat T20).
  static func check(
    _ path: String, _ entry: TreeDifference.Entry, below prefix: String
  ) throws(SyncError) {
    guard path.hasPrefix(prefix), entry.name != nil else { return }
    let inStore = String(path.dropFirst(prefix.count))
    let isOwn = [StoreLayout.work, StoreLayout.local].contains { name in
      let folder = inStore.split(separator: "/", maxSplits: 1).first.map { $0.lowercased() }
      return folder == name
    }
    guard !isOwn, entry.isFile, RelativePath.isPlain(inStore) else { throw .unsafePath(path) }
  }

  // MARK: Files

  /// Everything but items and their lines: the side that changed a file has it.
  private func mergeFiles(
    into result: inout MergedFiles, but done: Set<String>
  ) throws(SyncError) {
    var contested: [String] = []
    var hasTwoPolicies = false
    var wanted: [String: String] = [:]
    for (path, entry) in theirs.changes.entries where !done.contains(path) {
      let inStore = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
      let isOfPolicy = [StoreLayout.policy, StoreLayout.policySignature].contains(inStore)
      let isTaken = takesTheirPolicy && (isOfPolicy || inStore.hasPrefix("\(StoreLayout.keys)/"))
      if let mine = ours.changes.entries[path], !isTaken {
        if mine.name != entry.name { contested.append(path) }
        hasTwoPolicies = hasTwoPolicies || (mine.name != entry.name && isOfPolicy)
        continue
      }
      guard StoreLayout.isTracked(inStore) else {
        result.others[path] = OtherFile(mode: entry.mode, name: entry.name)
        continue
      }
      if let name = entry.name { wanted[inStore] = name } else { result.store[inStore] = .removed }
    }
    if hasTwoPolicies { throw .policiesDiverged }
    guard contested.isEmpty else { throw .bothChanged(contested.sorted()) }
    let contents = try objects.contents(of: Set(wanted.values))
    for (path, name) in wanted {
      guard let bytes = contents[name] else { throw .git(.unexpectedOutput(command: "cat-file")) }
      result.store[path] = .bytes(bytes)
    }
  }

  // MARK: Items

  private func mergeItems(
    into result: inout MergedFiles, _ done: inout Set<String>
  ) throws(SyncError) {
    var numbers = Set(
      (Array(ours.changes.entries.keys) + Array(theirs.changes.entries.keys)).compactMap(shardNumber))
    while true {
      let shards = try MergeShards(
        numbers, bases: bases, ours: ours.commit, theirs: theirs.commit, prefix: prefix, objects)
      let sealer = MergeSealer(
        keyring: keyring, objects: objects, ours: ours.commit, theirs: theirs.commit, prefix: prefix)
      var merge = StoreMerge()
      merge.prefer = { mine, other in sealer.prefer(mine, other) }
      merge.seal = { record, source in sealer.seal(record, source) }
      let known = try filesOfBase(shards.base)
      let items = merge.merge(
        base: tree(shards.base, known, nil), ours: tree(shards.ours, known, ours),
        theirs: tree(shards.theirs, known, theirs))
      if let error = sealer.error { throw error }
      // A line may have stood in another file than its own.
      let needed = Set(items.map(\.record.path.shard))
      if !needed.isSubset(of: numbers) {
        numbers.formUnion(needed)
        continue
      }
      try place(items, shards, sealer, into: &result)
      done = itemPaths(shards, items)
      return
    }
  }

  /// The number of the shard that a path is the file of.
  private func shardNumber(_ path: String) -> UInt8? {
    let folder = "\(prefix)\(StoreLayout.index)/"
    guard path.hasPrefix(folder) else { return nil }
    return StoreLayout.shardNumber(String(path.dropFirst(folder.count)))
  }

  /// Which of the files of some items the first base has: with several bases, an item of another one need not have any.
  private func filesOfBase(_ records: [ItemRecord]) throws(SyncError) -> Set<String> {
    let places = Set(records.map { "\(bases[0]):\(prefix)\(StoreLayout.itemFile($0.path, isLocal: false))" })
    return Set(try objects.names(of: places).keys)
  }

  private func tree(_ records: [ItemRecord], _ known: Set<String>, _ side: Side?) -> StoreMerge.Tree {
    let (prefix, base, changes) = (prefix, bases[0], side?.changes.entries ?? [:])
    return StoreMerge.Tree(records: records) { path in
      let file = "\(prefix)\(StoreLayout.itemFile(path, isLocal: false))"
      // What a side has not changed is there if it was.
      return changes[file].map { $0.name != nil } ?? known.contains("\(base):\(file)")
    }
  }

  private func place(
    _ items: [StoreMerge.Item], _ shards: MergeShards, _ sealer: MergeSealer, into result: inout MergedFiles
  ) throws(SyncError) {
    for (path, bytes) in try shards.merged(items.map(\.record)) {
      result.store[path] = .bytes(bytes)
    }
    let mine = Set(shards.ours.map(\.path))
    result.newCopies = items.count { $0.record.isConflictCopy && !mine.contains($0.record.path) }
    var wanted: [String: String] = [:]
    for item in items {
      let file = StoreLayout.itemFile(item.record.path, isLocal: false)
      guard let source = item.source else {
        guard let message = sealer.sealed[item.record.sealed] else { preconditionFailure("just sealed") }
        result.store[file] = .bytes(message)
        result.resealed += 1
        continue
      }
      let from = StoreLayout.itemFile(source.path, isLocal: false)
      if from == file, state(of: from, source.side) == state(of: file, .ours) { continue }
      let commit = source.side == .ours ? ours.commit : theirs.commit
      wanted[file] = "\(commit):\(prefix)\(from)"
    }
    let contents = try objects.contents(of: Set(wanted.values))
    for (file, name) in wanted {
      // A line without its file stays one; `check` tells.
      if let bytes = contents[name] { result.store[file] = .bytes(bytes) }
    }
    let kept = Set(items.map(\.record.path))
    for path in mine.subtracting(kept) {
      result.store[StoreLayout.itemFile(path, isLocal: false)] = .removed
    }
  }

  /// What a side has made of a file of the store: the name of its content, or what else became of it.
  private func state(of file: String, _ side: MergeSide) -> String {
    guard let entry = (side == .ours ? ours : theirs).changes.entries[prefix + file] else {
      return "unchanged"
    }
    return entry.name ?? "gone"
  }

  /// The files that the items account for.
  private func itemPaths(_ shards: MergeShards, _ items: [StoreMerge.Item]) -> Set<String> {
    let records = shards.base + shards.ours + shards.theirs + items.map(\.record)
    let paths = records.map { prefix + StoreLayout.itemFile($0.path, isLocal: false) }
    return Set(paths + shards.numbers.map { prefix + StoreLayout.shardFile($0, isLocal: false) })
  }
}
