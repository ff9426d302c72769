internal import Keyring
internal import KeyringModel

/// Finds old versions from the history that a remote has restored: of an item that has a newer version, or at the path
/// of a newer item with another id, as after `rm` and `add`.
///
/// This is the only change that a person without a key can make: to restore a version that others have signed.
struct RolledBackItems {
  let repository: Repository
  let objects: ObjectReader
  /// The merge bases.
  let bases: [String]
  /// The policy that determines the readers of the groups.
  let policy: Policy

  /// Returns the incoming versions that replace a newer version and that the history contained before it.
  ///
  /// - Parameters:
  ///   - incoming: The versions of the remote.
  ///   - base: The versions of the merge base.
  ///   - hidden: The last versions that members have signed of items that no member has signed in the merge base. At
  ///     another path the history may have a later version.
  ///   - isKnown: Returns true for an item that is in the store.
  /// - Returns: The old versions, sorted by path; and versions of the merge base that incoming ones may have replaced,
  ///   although these are in its history.
  /// - Throws: The errors of `Git.run`.
  func find(
    among incoming: [ItemPath: VerifiedRecord], comparedWith base: [ItemPath: VerifiedRecord],
    _ hidden: [ItemPath: VerifiedRecord], _ isKnown: (ItemID) -> Bool
  ) throws -> (old: [VerifiedRecord], replaced: [VerifiedRecord]) {
    let ids = Set(incoming.values.map(\.record.id))
    let signed = base.merging(hidden) { version, _ in version }
    let known = Dictionary(signed.values.map { ($0.record.id, $0.record) }) { first, second in
      second.isLater(than: first, bySecret: false) ? second : first
    }
    let candidates = try incoming.values.filter { version in
      if let newer = known[version.record.id] {
        guard newer.mayReplace(version.record) else { return false }
        let isHidden = base[newer.path]?.record != newer
        return try !(isHidden && version.record.mayReplace(newer) && isNewer(version.record, than: newer))
      }
      guard let other = signed[version.record.path]?.record, !ids.contains(other.id),
        !isKnown(version.record.id)
      else { return false }
      // If each of two items has replaced the other one, all clones choose the same one.
      return try other.isLater(than: version.record, bySecret: true)
        || !wasAdded(version.record, after: other)
    }
    if candidates.isEmpty { return ([], []) }
    let files = candidates.flatMap { version in
      [
        ItemFiles.recordFile(version.record.path),
        StoreLayout.conflictFile(
          version.record.id, ContentDigest(of: version.file.line), StoreLayout.recordExtension),
      ].map { repository.prefix + $0 }
    }
    var lines: Set<ContentDigest> = []
    try objects.forEachContent(
      of: try objects.pastNames(of: files, in: bases), limit: RecordFile.maximumSize
    ) { _, bytes in
      // Contents that are not records are ignored. The proof is not compared, because parts of a signature are not
      // signed and can differ.
      if let file = try? RecordFile(parsing: Array(bytes)) { lines.insert(ContentDigest(of: file.line)) }
    }
    let old = candidates.filter { lines.contains(ContentDigest(of: $0.file.line)) }
      .sorted { $0.record.path < $1.record.path }
    let chosen = old.compactMap { version -> (ItemID, VerifiedRecord)? in
      guard let record = known[version.record.id], let other = base[record.path], other.record == record,
        version.record.mayReplace(record), isChosen(version.record, over: record)
      else { return nil }
      return (record.id, other)
    }
    let replaced = Dictionary(chosen) { first, _ in first }
    return (old.filter { replaced[$0.record.id] == nil }, Array(replaced.values))
  }

  /// Returns true if all clones choose a version over another one, although each may have replaced the other one: the
  /// version with fewer readers, or for the same readers the later secret, and then the one that is later in the order
  /// of all versions. Otherwise somebody who restores a version could add readers.
  private func isChosen(_ version: ItemRecord, over other: ItemRecord) -> Bool {
    let (readers, others) = (Set(policy.groups[version.group] ?? []), Set(policy.groups[other.group] ?? []))
    if readers == others { return version.isLater(than: other, bySecret: true) }
    return readers.isSubset(of: others)
  }

  /// Returns true if a version was added to the history, and another one was never added or chosen by a merge after it.
  /// Times are not compared, because a merge of a new name with a new secret has the times of both.
  private func isNewer(_ version: ItemRecord, than old: ItemRecord) throws -> Bool {
    let (added, addedOld) = (try commits(adding: version), try commits(adding: old))
    return try !added.isEmpty && !isAny(of: added, before: addedOld, ifTooMany: true)
  }

  /// Returns true if a version was added to the history after another one.
  private func wasAdded(_ version: ItemRecord, after other: ItemRecord) throws -> Bool {
    try isAny(of: try commits(adding: other), before: try commits(adding: version), ifTooMany: false)
  }

  /// The maximum number of pairs of commits whose order is examined.
  private static let comparisonLimit = 256

  /// Returns true if one of some commits is an ancestor of one of others, or the same.
  private func isAny(of first: [String], before second: [String], ifTooMany result: Bool) throws -> Bool {
    if first.count * second.count > Self.comparisonLimit { return result }
    return try first.contains { old in try second.contains { try repository.git.isAncestor(old, of: $0) } }
  }

  /// Returns the commits in the history of the merge bases that added a version at its path, and the merges that chose
  /// it.
  private func commits(adding version: ItemRecord) throws -> [String] {
    let path = repository.prefix + ItemFiles.recordFile(version.path)
    let places = try repository.git.commits(changing: path, in: bases).map { "\($0):\(path)" }
    let names = try objects.names(of: places)
    let contents = try objects.contents(of: Set(names.values), limit: RecordFile.maximumSize)
    return names.compactMap { place, name in
      let record = contents[name].flatMap { try? RecordFile(parsing: $0).record }
      return record?.isSameVersion(as: version) == true
        ? place.split(separator: ":").first.map(String.init) : nil
    }
  }
}

extension ItemRecord {
  /// Returns true if this version may have replaced another one. A change increases `modified`, and a merge prefers the
  /// version with the later `modified` or `secretModified`. Re-encryption does not create another version.
  fileprivate func mayReplace(_ old: ItemRecord) -> Bool {
    !isSameVersion(as: old) && (modified >= old.modified || secretModified > old.secretModified)
  }
}
