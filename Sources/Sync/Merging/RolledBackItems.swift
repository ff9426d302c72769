internal import Keyring
internal import KeyringModel

/// Finds items that a remote has put back in the place of a newer item with another id: after `rm` and `add` the old
/// password and the new one have different ids.
struct RolledBackItems {
  let repository: Repository
  let objects: ObjectReader
  /// The commits that both sides come from.
  let bases: [String]

  /// Lists the items that have taken the place of a newer one and that the history had before it.
  ///
  /// - Parameters:
  ///   - incoming: The versions that come in.
  ///   - base: The versions that both sides come from.
  ///   - isKnown: Returns true for an item that is in the store.
  /// - Returns: The versions of the history, in the order of their paths.
  /// - Throws: as `Git.run`.
  func find(
    among incoming: [ItemPath: VerifiedRecord], comparedWith base: [ItemPath: VerifiedRecord],
    _ isKnown: (ItemID) -> Bool
  ) throws(SyncError) -> [VerifiedRecord] {
    let ids = Set(incoming.values.map(\.record.id))
    let candidates = incoming.values.filter { version in
      guard let newer = base[version.record.path]?.record, !ids.contains(newer.id) else { return false }
      return !isKnown(version.record.id) && version.record.isOlder(than: newer)
    }
    if candidates.isEmpty { return [] }
    let files = candidates.map { repository.prefix + ItemFiles.recordFile($0.record.path) }
    var lines: Set<ContentDigest> = []
    try objects.forEachContent(of: try objects.pastNames(of: files, in: bases)) { _, bytes in
      // What is not a record is no version of an item. The proof does not count: parts of a signature are not signed.
      if let file = try? RecordFile(parsing: Array(bytes)) { lines.insert(ContentDigest(of: file.line)) }
    }
    return candidates.filter { lines.contains(ContentDigest(of: $0.file.line)) }
      .sorted { $0.record.path < $1.record.path }
  }
}
