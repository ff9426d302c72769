internal import Keyring
internal import KeyringModel

/// The merge of items according to the records that members have signed.
extension TreeMerge {
  func mergeItems(into result: inout MergedFiles) throws {
    let changed = Set(
      (Array(ours.changes.entries.keys) + Array(theirs.changes.entries.keys)).compactMap(itemPath))
    if changed.isEmpty { return }
    var occupied: Set<ItemPath> = []
    while true {
      var attempt = result
      let others = try mergeItems(at: changed, and: occupied, into: &attempt)
      if others.isEmpty {
        result = attempt
        return
      }
      occupied.formUnion(others)
    }
  }

  /// Merges the items at some paths.
  ///
  /// - Parameters:
  ///   - changed: The paths that a side has changed.
  ///   - occupied: Further paths, which no side has changed, and to which the merge may move items.
  ///   - result: The result.
  /// - Returns: Other paths at which the local commit has files, and to which the merge would move an item, because one
  ///   side has changed its name and the other one its group. If there are any, the result is not complete, and these
  ///   paths have to be merged, too.
  private func mergeItems(
    at changed: Set<ItemPath>, and occupied: Set<ItemPath>, into result: inout MergedFiles
  ) throws -> Set<ItemPath> {
    let paths = changed.union(occupied)
    var read = try ItemFiles(paths, in: bases + [ours.commit, theirs.commit], prefix: prefix, objects)
    var base: [ItemPath: VerifiedRecord] = [:]
    // Records of the local commit and of the bases may be signed by people whom the remote's policy has removed, so the
    // local policy is accepted for them, too.
    let judges = judge === keyring ? [judge] : [judge, keyring]
    for commit in bases.reversed() {
      for (path, item) in try read.items(at: commit, judges) { base[path] = item.verified ?? base[path] }
    }
    var mine = try read.items(at: ours.commit, judges)
    var contents = try read.items(at: theirs.commit, [judge])
    let refused = try RefusedOwnItems(
      in: base, against: contents, since: bases, to: theirs.commit, keyring, repository,
      lastSigned: lastSigned)
    for path in refused.versions.keys { base[path] = nil }
    base.merge(refused.before) { version, _ in version }
    let hidden = try lastSigned(
      paths.filter {
        base[$0] == nil && refused.versions[$0] == nil && read.record($0, at: bases[0]) != nil
      }, judges)
    // A version whose encrypted file another program has changed stays, because it cannot become a complete copy.
    var setAside = refused.versions.filter { path, version in
      guard refused.replaced.contains(path), case .verified(let own)? = mine[path] else { return false }
      return own.record == version.record
    }
    for path in setAside.keys { mine[path] = nil }
    let abandoned = abandonedItems(mine, contents, read)
    for record in abandoned { mine[record.path] = nil }
    var removed = try RemovedSigners(
      keyring, judge: judge, isNeeded: contents.values.contains(where: \.isDistrusted), at: theirs.commit,
      in: repository)
    try removed.admit(into: &contents, read, at: theirs.commit)
    var theirItems = IncomingItems(
      contents, base: base, hidden: hidden, mine: mine, in: read, of: theirs.commit, instead: ours.commit,
      since: bases[0])
    let others = try theirItems.knownElsewhere(in: keyring).filter { setAside[$0.path] == nil }
    try theirItems.refuseForeignMoves(
      by: GroupMoves(
        since: bases + [ours.commit], to: theirs.commit, in: repository, objects, judges,
        earlier: earlierJudges), others)
    try theirItems.setAside(
      RolledBackItems(repository: repository, objects: objects, bases: bases, policy: judge.policy), others)
    let incoming = theirItems.items
    let withdrawn = try withdrawnMoves(
      mine, incoming, theirItems.copies, since: Array(base.values) + hidden.values)
    setAside.merge(withdrawn) { version, _ in version }
    // The version of the remote is accepted as if this side had it already. Without it, the item would be deleted.
    for path in abandoned.map(\.path) + setAside.keys {
      mine[path] = incoming[path].map { .verified($0) }
      if incoming[path] != nil { continue }
      for file in [ItemFiles.recordFile(path), ItemFiles.secretFile(path)] { result.store[file] = .removed }
    }
    let ids = Set(withdrawn.values.map(\.record.id))
    for (path, other) in incoming where ids.contains(other.record.id) && mine[path] == nil {
      mine[path] = .verified(other)
    }
    result.abandoned += abandoned.map { AbandonedItem(record: $0, isReplaced: incoming[$0.path] != nil) }
    // Another program may have changed the file on the side of the record, but not on all sides.
    let commits = [ours.commit, theirs.commit] + bases
    read.recovered = try originals(
      of: theirItems.changed.compactMap { incoming[$0]?.record } + hidden.values.map(\.record)
        + occupied.compactMap { mine[$0]?.verified?.record }, commits, read)
    let files = read
    for version in theirItems.copies {
      guard let secret = original(of: version.record, at: [theirs.commit], files) else { continue }
      try addCopy(version.file, secret, &result)
    }
    for version in Array(setAside.values) + theirItems.replaced {
      guard let secret = original(of: version.record, at: commits, files) else { continue }
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
    let targets = merged.items.map(\.record).filter { !paths.contains($0.path) && !others.contains($0) }
    let obstacles = try occupiedPaths(targets.map(\.path))
    if !obstacles.isEmpty { return obstacles }
    result.abandoned += replaced(occupied, by: merged, mine, files)
    let untouched = Set(others.map(\.path))
    var chosen = incoming
    for (path, other) in incoming where !removed.paths.contains(path) {
      chosen[path] = proof(of: mine[path]?.verified, or: other, since: base[path])
    }
    let renewed = Renewals(
      ours: ownItems(mine, notIn: contents, files), theirs: removed.paths)
    try place(merged, but: untouched, signing: renewed, files, mine, chosen, into: &result)
    let foreign = ForeignFileMerge(
      files: files, base: bases[0], ours: ours.commit, theirs: theirs.commit, mine: mine, occupied: occupied,
      merged: Dictionary(merged.items.map { ($0.record.path, $0.record) }) { first, _ in first })
    try foreign.merge(
      theirItems, replayed: { try replayedFiles(at: $0, files, side: $1) }, into: &result)
    result.olderVersions =
      theirItems.olderVersions + theirItems.replaced.map(\.record) + merged.olderVersions
    let kept = Set(merged.items.map(\.record.id) + merged.copies.map(\.record.id))
    let taken = Set(merged.items.map(\.record.path))
    result.deletions = base.values.filter { record in
      !kept.contains(record.record.id) && mine[record.record.path]?.verified?.record.id == record.record.id
    }.map { IncomingDeletion(record: $0.record, isReplaced: taken.contains($0.record.path)) }
    result.deletions.sort { $0.record.path < $1.record.path }
    return []
  }

  /// Returns the items that no member has signed, and that a merged item replaces although no side has changed them. The
  /// history keeps them.
  private func replaced(
    _ occupied: Set<ItemPath>, by merged: StoreMerge.Result, _ mine: [ItemPath: ItemFiles.Content],
    _ files: ItemFiles
  ) -> [AbandonedItem] {
    merged.items.map(\.record.path).filter { occupied.contains($0) && mine[$0]?.isDistrusted == true }
      .compactMap { path in
        // A record that cannot be read has no name that could be reported.
        let record = files.record(path, at: ours.commit).flatMap { try? RecordFile(parsing: $0).record }
        return record.map { AbandonedItem(record: $0, isReplaced: true) }
      }
  }

  /// Returns those of some paths at which the local commit has a file.
  private func occupiedPaths(_ paths: [ItemPath]) throws -> Set<ItemPath> {
    func places(_ path: ItemPath) -> [String] {
      [ItemFiles.recordFile(path), ItemFiles.secretFile(path)].map { "\(ours.commit):\(prefix)\($0)" }
    }
    let known = try objects.names(of: paths.flatMap(places))
    return Set(paths.filter { path in places(path).contains { known[$0] != nil } })
  }

  /// Returns the local items that no member has signed, as after their author has left the group, and that the remote
  /// has removed or replaced since the base. All other machines would refuse them again, so they are reported and not
  /// sent any more. The history keeps them.
  private func abandonedItems(
    _ mine: [ItemPath: ItemFiles.Content], _ contents: [ItemPath: ItemFiles.Content], _ files: ItemFiles
  ) -> [ItemRecord] {
    mine.keys.sorted().compactMap { path in
      guard case .distrusted(.damage(let damage))? = mine[path], damage.isOfSignature,
        let bytes = files.record(path, at: ours.commit)
      else { return nil }
      switch contents[path] {
      case nil where files.areSame(path, at: ours.commit, and: bases[0]): break
      case .verified where !files.areSame(path, at: theirs.commit, and: bases[0]): break
      default: return nil
      }
      // A verifier has already parsed the record.
      return try? RecordFile(parsing: bytes).record
    }
  }

  /// The paths of items whose signer is no longer a member, or whose signature is no longer valid, so that this user signs
  /// them again.
  private struct Renewals {
    var ours: Set<ItemPath>
    var theirs: Set<ItemPath>
  }

  /// Returns the paths of local items that only the local policy accepts, and that this user can sign.
  ///
  /// The remote's policy has removed their signers. This machine had accepted them before, but the admin who removed the
  /// signer may not have been able to read them. All other machines would refuse them with the old signature.
  private func ownItems(
    _ mine: [ItemPath: ItemFiles.Content], notIn contents: [ItemPath: ItemFiles.Content], _ files: ItemFiles
  ) -> Set<ItemPath> {
    if judge === keyring { return [] }
    return Set(
      mine.compactMap { path, content -> ItemPath? in
        guard let version = content.verified,
          !judge.policy.isMember(version.signer, ofAny: [version.record.group]),
          contents[path]?.verified?.record != version.record,
          let secret = original(of: version.record, at: [ours.commit] + bases, files),
          judge.canSign(for: version.record.group, secret)
        else { return nil }
        return path
      })
  }

  private func itemPath(_ path: String) -> ItemPath? {
    guard path.hasPrefix(prefix) else { return nil }
    return StoreLayout.itemPath(ofFile: String(path.dropFirst(prefix.count)))
  }

  /// Adds items, conflict copies and index lines to the result.
  ///
  /// - Parameter renewals: The items that this user signs again.
  private func place(
    _ merged: StoreMerge.Result, but untouched: Set<ItemPath>, signing renewals: Renewals,
    _ files: ItemFiles, _ mine: [ItemPath: ItemFiles.Content], _ incoming: [ItemPath: VerifiedRecord],
    into result: inout MergedFiles
  ) throws {
    func commit(_ side: MergeSide) -> String { side == .ours ? ours.commit : theirs.commit }
    func version(_ record: ItemRecord, _ side: MergeSide) -> RecordFile? {
      let (own, other) = (mine[record.path]?.verified, incoming[record.path])
      let isEqual = own != nil && own?.record == other?.record
      return side == .ours && !(isEqual && !renewals.theirs.contains(record.path)) ? own?.file : other?.file
    }
    func isUnsigned(_ record: ItemRecord, _ side: MergeSide?) -> Bool {
      guard let side else { return true }
      return (side == .ours ? renewals.ours : renewals.theirs).contains(record.path)
    }
    let unsigned = merged.items.filter { isUnsigned($0.record, $0.recordSide) }
    let items = unsigned.map(\.record)
    let copies = merged.copies.filter { isUnsigned($0.record, $0.side) }.map(\.record)
    let renewed = items.isEmpty && copies.isEmpty ? [] : try judge.sign(items + copies)
    let signed = Dictionary(uniqueKeysWithValues: zip(items.map(\.path), renewed))
    let signedCopies = Array(zip(copies, renewed.dropFirst(items.count)))
    result.signed = unsigned.filter { $0.recordSide == nil }.count
    let again = (unsigned.map { ($0.record, $0.recordSide) } + merged.copies.map { ($0.record, $0.side) })
      .filter { record, side in side != nil && isUnsigned(record, side) }
    for (record, side) in again {
      let signer = (side == .ours ? mine[record.path]?.verified : incoming[record.path])?.signer
      result.countRenewal(of: record, signedBy: signer, judge)
    }
    var lines: [ItemPath: [UInt8]] = [:]
    for item in merged.items where !untouched.contains(item.record.path) {
      let path = item.record.path
      let file = signed[path] ?? item.recordSide.flatMap { version(item.record, $0) }
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
      guard
        let file = signedCopies.first(where: { $0.0 == copy.record })?.1 ?? version(copy.record, copy.side),
        let secret = original(
          of: copy.record, at: [commit(copy.side), ours.commit, theirs.commit] + bases, files)
      else { continue }
      try addCopy(file, secret, &result)
    }
    try rebuildShards(lines, files.paths.subtracting(untouched), mine, &result)
  }

  /// Returns one of two versions of an item, the same on every clone if they differ only in their signatures, as after
  /// two machines have made the same merge. Otherwise the clones would replace each other's signature for ever.
  ///
  /// - Parameters:
  ///   - mine: The local version; nil if there is none.
  ///   - other: The version of the remote.
  ///   - base: The version of the merge base; nil if there is none.
  /// - Returns: The version of the remote if the records differ.
  private func proof(
    of mine: VerifiedRecord?, or other: VerifiedRecord, since base: VerifiedRecord?
  ) -> VerifiedRecord {
    guard let mine, mine.record == other.record, mine.file != other.file else { return other }
    // The local signer may have been removed by the remote's policy.
    guard judge.policy.isMember(mine.signer, ofAny: [mine.record.group]), base?.file != mine.file else {
      return other
    }
    if base?.file == other.file { return mine }
    return mine.file.bytes.lexicographicallyPrecedes(other.file.bytes) ? mine : other
  }

  private func set(_ path: String, _ bytes: [UInt8], instead old: [UInt8]?, _ result: inout MergedFiles) {
    if bytes != old { result.store[path] = .bytes(bytes) }
  }

  func addCopy(
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
    result.newCopies.append(file.record)
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
  func addEmptyShards(_ result: inout MergedFiles) throws {
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
}
