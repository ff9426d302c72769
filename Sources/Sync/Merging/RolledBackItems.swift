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

  /// Returns the incoming versions that replace a newer version and that the history contained before it.
  ///
  /// - Parameters:
  ///   - incoming: The versions of the remote.
  ///   - base: The versions of the merge base.
  ///   - isKnown: Returns true for an item that is in the store.
  /// - Returns: The old versions, sorted by path.
  /// - Throws: The errors of `Git.run`.
  func find(
    among incoming: [ItemPath: VerifiedRecord], comparedWith base: [ItemPath: VerifiedRecord],
    _ isKnown: (ItemID) -> Bool
  ) throws -> [VerifiedRecord] {
    let ids = Set(incoming.values.map(\.record.id))
    let known = Dictionary(base.values.map { ($0.record.id, $0.record) }) { first, second in
      second.isLater(than: first, bySecret: false) ? second : first
    }
    let candidates = incoming.values.filter { version in
      if let newer = known[version.record.id] { return newer.mayReplace(version.record) }
      guard let other = base[version.record.path]?.record else { return false }
      return !ids.contains(other.id) && !isKnown(version.record.id)
    }
    if candidates.isEmpty { return [] }
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
    return candidates.filter { lines.contains(ContentDigest(of: $0.file.line)) }
      .sorted { $0.record.path < $1.record.path }
  }
}

extension ItemRecord {
  /// Returns true if this version may have replaced another one. A change increases `modified`, and a merge prefers the
  /// version with the later `modified` or `secretModified`. Re-encryption does not create another version.
  fileprivate func mayReplace(_ old: ItemRecord) -> Bool {
    !isSameVersion(as: old) && (modified >= old.modified || secretModified > old.secretModified)
  }
}
