package import Keyring
internal import KeyringModel

/// Merges two commits of a store: items according to the records that members have signed, everything else file by
/// file.
package struct TreeMerge {
  /// A commit and its changes since the base.
  private struct Side {
    let commit: String
    let changes: TreeDifference
  }

  private let repository: Repository
  private let prefix: String
  private let objects: ObjectReader
  private let bases: [String]
  private let ours: Side
  private let theirs: Side
  private let refusedFiles: [RefusedChange]
  /// The remote's encrypted files directly in the folder of a class: the object names by path in the store.
  private let misplaced: [String: String]
  private let keyring: Keyring
  private let judge: Keyring
  /// True if the remote's policy and key files are used when both sides have changed them.
  package var takesTheirPolicy = false

  /// Creates a merge.
  ///
  /// - Parameters:
  ///   - bases: The merge bases. The first one is used for files, all of them for items. The empty tree if the sides
  ///     have no common ancestor.
  ///   - ours: The commit that is merged into. The store matches it.
  ///   - theirs: The commit that is merged.
  ///   - repository: The repository that contains the commits.
  ///   - keyring: The store.
  ///   - judge: The keyring whose policy is used to verify the remote's items and to sign merged records.
  /// - Throws: `unsafePath` if the remote has a file outside the store with a path that is not UTF-8 or contains a line
  ///   feed; the errors of `Git.run`.
  package init(
    bases: [String], ours: String, theirs: String, in repository: Repository, keyring: Keyring,
    judge: Keyring
  ) throws {
    precondition(!bases.isEmpty, "a merge without a common ancestor needs the empty tree as its base")
    self.repository = repository
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
    self.bases = bases
    self.ours = Side(
      commit: ours, changes: try TreeDifference(from: bases[0], to: ours, in: repository.git))
    var changes = try TreeDifference(from: bases[0], to: theirs, in: repository.git)
    var misplaced: [String: String] = [:]
    for (path, entry) in changes.entries where path.hasPrefix(prefix) && entry.mode == "100644" {
      let inStore = String(path.dropFirst(prefix.count))
      if StoreLayout.isMisplacedFile(inStore) { misplaced[inStore] = entry.name }
    }
    self.misplaced = misplaced
    // A policy that the user has not accepted does not allow any files.
    let policy = judge.distrust == nil ? judge.policy : keyring.policy
    let refused =
      try changes.refuse(outside: AllowedFiles(beside: policy), below: prefix)
      + changes.refuseLarge(below: prefix, objects)
    refusedFiles =
      try refused
      + changes.refuseLosses(of: keyring.policy.activePeople, below: prefix, after: refused, objects)
    self.theirs = Side(commit: theirs, changes: changes)
    (self.keyring, self.judge) = (keyring, judge)
  }

  /// Returns the result of the merge.
  ///
  /// - Throws: `bothChanged` for files that are not items and were changed on both sides; `policiesDiverged`;
  ///   `KeyringError` if a merged record cannot be signed; the errors of `Git.run`.
  package func files() throws -> MergedFiles {
    var result = MergedFiles()
    result.refused = refusedFiles
    try mergeItems(into: &result)
    try addEmptyShards(&result)
    try mergeConflictCopies(into: &result)
    try mergeFiles(into: &result)
    try moveMisplacedFiles(into: &result)
    try renewPassRecipients(&result)
    result.foreignFiles.sort { $0.path < $1.path }
    try nameItems(&result)
    result.equalsTheirs = try equalsTheirs(result)
    try nameCommitters(&result)
    return result
  }

  // MARK: Items

  private func mergeItems(into result: inout MergedFiles) throws {
    let paths = Set(
      (Array(ours.changes.entries.keys) + Array(theirs.changes.entries.keys)).compactMap(itemPath))
    if paths.isEmpty { return }
    var read = try ItemFiles(paths, in: bases + [ours.commit, theirs.commit], prefix: prefix, objects)
    var base: [ItemPath: VerifiedRecord] = [:]
    // Records of the local commit and of the bases may be signed by people whom the remote's policy has removed, so the
    // local policy is accepted for them, too.
    let judges = judge === keyring ? [judge] : [judge, keyring]
    for commit in bases.reversed() {
      for (path, item) in try read.items(at: commit, judges) { base[path] = item.verified ?? base[path] }
    }
    let mine = try read.items(at: ours.commit, judges)
    var theirItems = IncomingItems(
      try read.items(at: theirs.commit, [judge]), base: base, mine: mine, in: read, of: theirs.commit,
      instead: ours.commit, since: bases[0])
    let others = try theirItems.knownElsewhere(in: keyring)
    try theirItems.refuseForeignMoves(
      by: GroupMoves(
        since: bases + [ours.commit], to: theirs.commit, in: repository, objects, judges), others)
    try theirItems.setAside(RolledBackItems(repository: repository, objects: objects, bases: bases), others)
    let incoming = theirItems.items
    // Another program may have changed the file on the side of the record, but not on all sides.
    let commits = [ours.commit, theirs.commit] + bases
    read.recovered = try originals(
      of: theirItems.changed.compactMap { incoming[$0]?.record }, commits, read)
    let files = read
    for version in theirItems.copies {
      guard let secret = original(of: version.record, at: [theirs.commit], files) else { continue }
      try addCopy(version.file, secret, &result)
    }
    result.refused += theirItems.refused
    var merge = StoreMerge()
    merge.canSign = { [judge] record, source, _ in
      original(of: source, at: commits, files).map { judge.canSign(for: record.group, $0) } ?? false
    }
    merge.prefer = { [judge] mine, other in
      let isRight = [mine, other].map { record in
        original(of: record, at: commits, files).map { judge.isSealed($0, to: record.group) } ?? false
      }
      if isRight[0] != isRight[1] { return isRight[0] ? .ours : .theirs }
      return StoreMerge().prefer(mine, other)
    }
    let merged = merge.merge(
      base: base.values.map(\.record), ours: mine.values.compactMap { $0.verified?.record } + others,
      theirs: incoming.values.map(\.record) + others)
    try place(merged, but: Set(others.map(\.path)), files, mine, incoming, into: &result)
    let foreign = ForeignFileMerge(
      files: files, base: bases[0], ours: ours.commit, theirs: theirs.commit, mine: mine,
      merged: Dictionary(merged.items.map { ($0.record.path, $0.record) }) { first, _ in first })
    try foreign.merge(
      theirItems, replayed: { try replayedFiles(at: $0, files, side: $1) }, into: &result)
    result.olderVersions = theirItems.olderVersions + merged.olderVersions
    let kept = Set(merged.items.map(\.record.id) + merged.copies.map(\.record.id))
    result.deletions = base.values.filter { record in
      !kept.contains(record.record.id) && mine[record.record.path]?.verified?.record.id == record.record.id
    }.map { IncomingDeletion(record: $0.record) }.sorted { $0.record.path < $1.record.path }
  }

  private func itemPath(_ path: String) -> ItemPath? {
    guard path.hasPrefix(prefix) else { return nil }
    return StoreLayout.itemPath(ofFile: String(path.dropFirst(prefix.count)))
  }

  /// Adds items, conflict copies and index lines to the result.
  private func place(
    _ merged: StoreMerge.Result, but untouched: Set<ItemPath>, _ files: ItemFiles,
    _ mine: [ItemPath: ItemFiles.Content], _ incoming: [ItemPath: VerifiedRecord],
    into result: inout MergedFiles
  ) throws {
    func commit(_ side: MergeSide) -> String { side == .ours ? ours.commit : theirs.commit }
    func version(_ record: ItemRecord, _ side: MergeSide) -> RecordFile? {
      side == .ours ? mine[record.path]?.verified?.file : incoming[record.path]?.file
    }
    let unsigned = merged.items.filter { $0.recordSide == nil }
    var signed: [ItemPath: RecordFile] = [:]
    if !unsigned.isEmpty {
      for (item, file) in zip(unsigned, try judge.sign(unsigned.map(\.record))) {
        signed[item.record.path] = file
      }
    }
    result.signed = unsigned.count
    var lines: [ItemPath: [UInt8]] = [:]
    for item in merged.items where !untouched.contains(item.record.path) {
      let path = item.record.path
      let file = item.recordSide.map { version(item.record, $0) } ?? signed[path]
      // A version that the remote was reverted to is that of the base, which the local commit contains, too.
      guard let file = file ?? version(item.record, .ours) else { continue }
      lines[path] = file.line
      set(ItemFiles.recordFile(path), file.bytes, instead: files.record(path, at: ours.commit), &result)
      let commits = [commit(item.secretSide), theirs.commit, ours.commit] + bases
      let secret =
        original(of: item.record, from: item.secretPath, at: commits, files)
        ?? original(of: item.record, at: commits, files) ?? files.secret(path, at: ours.commit)
      if let secret {
        set(ItemFiles.secretFile(path), secret, instead: files.secret(path, at: ours.commit), &result)
      }
    }
    for (path, item) in mine where lines[path] == nil && item.verified != nil && !untouched.contains(path) {
      result.store[ItemFiles.recordFile(path)] = .removed
      result.store[ItemFiles.secretFile(path)] = .removed
    }
    for copy in merged.copies where !untouched.contains(copy.record.path) {
      guard let file = version(copy.record, copy.side),
        let secret = original(
          of: copy.record, at: [commit(copy.side), ours.commit, theirs.commit] + bases, files)
      else { continue }
      try addCopy(file, secret, &result)
    }
    try rebuildShards(lines, files.paths.subtracting(untouched), mine, &result)
  }

  /// Returns the encrypted file that a record describes; nil if none of the commits has it.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - path: The path of the item in the commits; nil for that of the record.
  ///   - commits: The commits, the most likely one first.
  private func original(
    of record: ItemRecord, from path: ItemPath? = nil, at commits: [String], _ files: ItemFiles
  ) -> [UInt8]? {
    commits.lazy.compactMap { files.secret(path ?? record.path, at: $0) }
      .first { ContentDigest(of: $0) == record.sealed } ?? files.recovered[record.sealed]
  }

  /// Returns the encrypted files that records describe and that only older commits of the remote have, because another
  /// program has changed them since.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - commits: The commits that are merged.
  ///   - files: The files in these commits.
  private func originals(
    of records: [ItemRecord], _ commits: [String], _ files: ItemFiles
  ) throws -> [ContentDigest: [UInt8]] {
    let lost = records.filter { original(of: $0, at: commits, files) == nil }
    if lost.isEmpty { return [:] }
    let wanted = Set(lost.map(\.sealed))
    let names = try objects.pastNames(
      of: lost.map { prefix + ItemFiles.secretFile($0.path) }, in: [theirs.commit])
    var found: [ContentDigest: [UInt8]] = [:]
    for bytes in try objects.contents(of: names, limit: StoreLayout.sealedItemLimit).values {
      let digest = ContentDigest(of: bytes)
      if wanted.contains(digest) { found[digest] = bytes }
    }
    return found
  }

  private func set(_ path: String, _ bytes: [UInt8], instead old: [UInt8]?, _ result: inout MergedFiles) {
    if bytes != old { result.store[path] = .bytes(bytes) }
  }

  private func addCopy(
    _ file: RecordFile, _ secret: [UInt8], _ result: inout MergedFiles
  ) throws {
    let digest = ContentDigest(of: file.line)
    let paths = [StoreLayout.secretExtension, StoreLayout.recordExtension].map {
      StoreLayout.conflictFile(file.record.id, digest, $0)
    }
    // The local commit may already have the copy from an earlier merge.
    let known = try objects.names(of: paths.map { "\(ours.commit):\(prefix)\($0)" })
    if known.count == paths.count { return }
    result.store[paths[0]] = .bytes(secret)
    result.store[paths[1]] = .bytes(file.bytes)
    result.newCopies += 1
  }

  /// Rebuilds the index lines of the merged items. No index line is taken from the remote.
  private func rebuildShards(
    _ lines: [ItemPath: [UInt8]], _ paths: Set<ItemPath>, _ mine: [ItemPath: ItemFiles.Content],
    _ result: inout MergedFiles
  ) throws {
    let changed = Set(paths).union(lines.keys).filter { path in
      // A local item that is not verified keeps its line.
      lines[path] != nil || mine[path] == nil || mine[path]?.verified != nil
    }
    for (number, paths) in Dictionary(grouping: changed, by: \.shard) {
      let file = StoreLayout.shardFile(number, isLocal: false)
      let name = "\(ours.commit):\(prefix)\(file)"
      let old = try objects.contents(of: [name], limit: StoreLayout.shardLimit)[name]
      let new = Shard(parsing: old ?? [], number: number)
        .replacingLines(of: Set(paths), by: paths.sorted().compactMap { lines[$0] })
      // A shard is kept as an empty file when its last item is removed.
      if new != old ?? [] || (old == nil && paths.contains { lines[$0] != nil }) {
        result.store[file] = .bytes(new)
      }
    }
  }

  /// Adds the empty shards that only the remote has, because the two sides could never become equal without them.
  private func addEmptyShards(_ result: inout MergedFiles) throws {
    let shards = theirs.changes.entries.compactMap { path, entry -> String? in
      guard entry.name != nil, path.hasPrefix(prefix) else { return nil }
      let inStore = String(path.dropFirst(prefix.count))
      let folder = "\(StoreLayout.indexFolder(isLocal: false))/"
      guard inStore.hasPrefix(folder), StoreLayout.shardNumber(String(inStore.dropFirst(folder.count))) != nil
      else {
        return nil
      }
      return result.store[inStore] == nil ? inStore : nil
    }
    if shards.isEmpty { return }
    let known = try objects.names(of: shards.map { "\(ours.commit):\(prefix)\($0)" })
    for file in shards where known["\(ours.commit):\(prefix)\(file)"] == nil {
      result.store[file] = .bytes([])
    }
  }

  // MARK: Conflict copies

  /// Adds conflict copies that the remote has created, and removes those that it has resolved.
  private func mergeConflictCopies(into result: inout MergedFiles) throws {
    let folder = "\(prefix)\(StoreLayout.conflicts)/"
    var added: [String: String] = [:]
    for (path, entry) in theirs.changes.entries where path.hasPrefix(folder) {
      let inStore = String(path.dropFirst(prefix.count))
      guard ours.changes.entries[path] == nil, StoreLayout.isConflictFile(inStore) else { continue }
      if let name = entry.name {
        added[inStore] = name
        continue
      }
      result.store[inStore] = .removed
      if inStore.hasSuffix(StoreLayout.recordExtension) { result.removedCopies += 1 }
    }
    let contents = try objects.contents(of: Set(added.values), limit: StoreFiles.sizeLimit)
    for (path, name) in added where path.hasSuffix(StoreLayout.recordExtension) {
      guard let record = contents[name] else { continue }
      let secretPath =
        path.dropLast(StoreLayout.recordExtension.utf8.count) + StoreLayout.secretExtension
      let secret = added[String(secretPath)].flatMap { contents[$0] }
      let fault: RecordProblem? = try judge.fault(ofCopy: record, secret, at: path)
      if let fault {
        result.refused.append(RefusedChange(path: path, reason: .record(fault)))
      } else if let secret {
        result.store[path] = .bytes(record)
        result.store[String(secretPath)] = .bytes(secret)
        result.newCopies += 1
      }
    }
  }

  // MARK: Files

  /// Merges all other files: the version of the side that changed a file is used.
  private func mergeFiles(into result: inout MergedFiles) throws {
    var contested: [String] = []
    var hasTwoPolicies = false
    var wanted: [String: String] = [:]
    var bothChanged: [(path: String, name: String, isFree: Bool)] = []
    for (path, entry) in theirs.changes.entries {
      let inStore = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
      if isMadeFromItems(inStore) { continue }
      let isOfPolicy = [StoreLayout.policy, StoreLayout.policySignature].contains(inStore)
      let isTaken = takesTheirPolicy && (isOfPolicy || inStore.hasPrefix("\(StoreLayout.keys)/"))
      if let mine = ours.changes.entries[path], !isTaken {
        if mine.name != entry.name {
          if StoreLayout.isForeignFile(inStore) {
            if let name = entry.name { bothChanged.append((inStore, name, mine.name == nil)) }
            continue
          }
          contested.append(path)
        }
        hasTwoPolicies = hasTwoPolicies || (mine.name != entry.name && isOfPolicy)
        continue
      }
      guard StoreLayout.isTracked(inStore) else {
        result.others[path] = OtherFile(mode: entry.mode, name: entry.name)
        continue
      }
      if let name = entry.name { wanted[inStore] = name } else { result.store[inStore] = .removed }
    }
    if hasTwoPolicies { throw SyncError.policiesDiverged }
    guard contested.isEmpty else { throw SyncError.bothChanged(contested.sorted()) }
    let names = Set(wanted.values).union(bothChanged.map(\.name))
    let contents = try objects.contents(of: names, limit: StoreFiles.sizeLimit)
    for (path, name) in wanted {
      guard let bytes = contents[name] else { throw GitError.unexpectedOutput(command: "cat-file") }
      if StoreLayout.isForeignFile(path) {
        result.receive(bytes, asForeignFile: path)
      } else {
        result.store[path] = .bytes(bytes)
      }
    }
    // A change of a file of another program wins over its deletion or adoption, and of two changes both are kept.
    for file in bothChanged {
      guard let bytes = contents[file.name] else { throw GitError.unexpectedOutput(command: "cat-file") }
      result.receive(
        bytes, asForeignFile: file.isFree ? file.path : SecondPath.of(file.path, ContentDigest(of: bytes)),
        from: file.path)
    }
  }

  /// Stores messages that the remote has directly in the folder of a class under names that no folder of items can
  /// have. Everything else there stays refused.
  private func moveMisplacedFiles(into result: inout MergedFiles) throws {
    if misplaced.isEmpty { return }
    let limit = StoreLayout.sealedItemLimit
    let small = try objects.infos(of: Set(misplaced.values)).filter { $0.value.size <= limit }
    let contents = try objects.contents(of: Set(small.keys), limit: StoreFiles.sizeLimit)
    for (path, name) in misplaced {
      guard let bytes = contents[name], judge.isMessage(bytes) else { continue }
      result.receive(bytes, asForeignFile: SecondPath.of(path, ContentDigest(of: bytes)), from: path)
      result.refused.removeAll { $0.path == path }
    }
  }

  /// Returns the items whose changed file is not new: another item of this side has it, or the item had it before. A
  /// person without a key can copy such a file, but a program that changes a secret creates a new one.
  ///
  /// - Parameters:
  ///   - paths: The items.
  ///   - files: The files of the items.
  ///   - side: The side that changed the files. The past of the items is searched for the remote only, because the file
  ///     of this side may have arrived with an earlier merge.
  private func replayedFiles(
    at paths: [ItemPath], _ files: ItemFiles, side: MergeSide
  ) throws -> Set<ItemPath> {
    if paths.isEmpty { return [] }
    let folders = [StoreLayout.items, StoreLayout.conflicts].map { prefix + $0 }
    let records = try repository.git.records(
      ["ls-tree", "-r", "-z", "--full-tree", ours.commit, "--"] + folders)
    var places: [String: Set<String>] = [:]
    for record in records {
      // `<mode> <type> <name>`, a tab, and the path.
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")),
        let name = record[..<tab].split(separator: UInt8(ascii: " ")).last
      else { throw GitError.unexpectedOutput(command: "ls-tree") }
      let path = String(decoding: record[(tab + 1)...], as: UTF8.self)
      places[String(decoding: name, as: UTF8.self), default: []].insert(path)
    }
    let secrets = paths.map { prefix + ItemFiles.secretFile($0) }
    let past = side == .theirs ? Set(try objects.pastNames(of: secrets, in: bases)) : []
    return Set(
      paths.filter { path in
        guard let name = files.secretName(path, at: side == .ours ? ours.commit : theirs.commit) else {
          return false
        }
        let others = places[name, default: []].subtracting([prefix + ItemFiles.secretFile(path)])
        return past.contains(name) || !others.isEmpty
      })
  }

  /// Returns true if a file is merged or rebuilt together with the items.
  private func isMadeFromItems(_ path: String) -> Bool {
    let folder = "\(StoreLayout.index)/"
    if path.hasPrefix(folder), StoreLayout.shardNumber(String(path.dropFirst(folder.count))) != nil {
      return true
    }
    return StoreLayout.itemPath(ofFile: path) != nil || StoreLayout.isConflictFile(path)
      || path == StoreLayout.passRecipients
  }

  /// Writes the file with the recipients for other programs. It is never taken from the remote, because other programs
  /// encrypt to the recipients in it.
  private func renewPassRecipients(_ result: inout MergedFiles) throws {
    let isTheirs = result.store[StoreLayout.policy] != nil
    let wanted = isTheirs && judge.distrust == nil ? judge.passRecipients : keyring.passRecipients
    let name = "\(ours.commit):\(prefix)\(StoreLayout.passRecipients)"
    if try objects.contents(of: [name], limit: StoreLayout.smallFileLimit)[name] != wanted {
      result.store[StoreLayout.passRecipients] = .bytes(wanted)
    }
  }

  // MARK: The result

  /// Returns true if the result equals the remote's commit.
  private func equalsTheirs(_ result: MergedFiles) throws -> Bool {
    guard ours.changes.entries.isEmpty, result.refused.isEmpty else { return false }
    let hash: GitHash = try repository.hash()
    var theirNames: [String: String?] = [:]
    for (path, entry) in theirs.changes.entries where path.hasPrefix(prefix) {
      let inStore = String(path.dropFirst(prefix.count))
      guard StoreLayout.isTracked(inStore) else { continue }
      // The merge writes a plain file.
      if entry.mode == "100755" { return false }
      theirNames[inStore] = entry.name
    }
    for (path, name) in theirNames {
      switch result.store[path] {
      case nil: return false
      case .removed: if name != nil { return false }
      case .bytes(let bytes): if hash.blobName(of: bytes) != name { return false }
      }
    }
    return result.store.keys.allSatisfy { theirNames[$0] != nil }
  }

  /// Sets the items that files of other programs change.
  private func nameItems(_ result: inout MergedFiles) throws {
    let paths = result.foreignFiles.map { file -> ItemPath? in
      guard case .bytes(let bytes) = result.store[file.path] else { return nil }
      return SecondPath.item(of: file.path, ContentDigest(of: bytes))
        ?? StoreLayout.itemPath(ofFile: file.path)
    }
    func place(_ path: ItemPath) -> String { "\(ours.commit):\(prefix)\(ItemFiles.recordFile(path))" }
    let known = try objects.names(of: Set(paths.compactMap { $0.map(place) }))
    for (index, path) in zip(result.foreignFiles.indices, paths) {
      guard let path else { continue }
      let isItem =
        switch result.store[ItemFiles.recordFile(path)] {
        case .bytes: true
        case .removed: false
        case nil: known[place(path)] != nil
        }
      if isItem { result.foreignFiles[index].item = path }
    }
  }

  /// Sets the committers of refused changes, of deletions, and of files of other programs.
  private func nameCommitters(_ result: inout MergedFiles) throws {
    for index in result.refused.indices.prefix(Self.namedLimit) {
      result.refused[index].committer = try committer(of: result.refused[index].path)
    }
    for index in result.deletions.indices.prefix(Self.namedLimit) {
      let path = ItemFiles.recordFile(result.deletions[index].record.path)
      result.deletions[index].committer = try committer(of: path)
    }
    for index in result.foreignFiles.indices.prefix(Self.namedLimit) {
      // A merge that has kept the file at a second path did not create it.
      let file = result.foreignFiles[index]
      let first = file.item.map(ItemFiles.secretFile)
      result.foreignFiles[index].committer = try committer(
        of: [file.origin] + [first].compactMap { $0 }, "--no-merges", "--full-history")
    }
  }

  /// The number of changes whose committers are determined.
  private static let namedLimit = 50

  /// Returns the last committer of a file or an item on the remote's side; nil if none of its commits changed it.
  ///
  /// - Parameter file: The path in the store; for an item the path of its record.
  private func committer(of file: String) throws -> String? {
    // Git would treat such a path as outside the repository.
    guard RelativePath.isPlain(file) else { return nil }
    var files = [file]
    if file.hasSuffix(StoreLayout.recordExtension) {
      // A commit may have changed only the encrypted file.
      files.append(
        file.dropLast(StoreLayout.recordExtension.utf8.count) + StoreLayout.secretExtension)
    }
    return try committer(of: files)
  }

  private func committer(of files: [String], _ options: String...) throws -> String? {
    let output = try repository.git.run(
      ["log", "-1", "--format=%cn <%ce>"] + options + ["\(ours.commit)..\(theirs.commit)", "--"]
        + files.map { prefix + $0 })
    let line = String(decoding: output, as: UTF8.self).split(separator: "\n").first
    return line.map(String.init)
  }
}
