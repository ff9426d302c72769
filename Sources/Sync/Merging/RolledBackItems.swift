internal import Keyring
internal import KeyringModel

/// Finds versions of the history that a remote has put back: of an item that has a newer version, or in the place of
/// a newer
/// item with another id, as after `rm` and `add`.
///
/// A person without a key can put back what others have signed, and nothing else.
struct RolledBackItems {
  /// The most paths of a command line.
  private static let pieceSize = 256

  let repository: Repository
  let objects: ObjectReader
  /// The commits that both sides come from.
  let bases: [String]

  /// Lists the versions that have taken the place of a newer one and that the history had before it.
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
    for start in stride(from: 0, to: files.count, by: Self.pieceSize) {
      let piece = files[start..<min(start + Self.pieceSize, files.count)]
      try objects.forEachContent(
        of: try objects.pastNames(of: piece, in: bases), limit: RecordFile.maximumSize
      ) { _, bytes in
        // What is not a record is no version of an item. The proof does not count: parts of a signature are not signed.
        if let file = try? RecordFile(parsing: Array(bytes)) { lines.insert(ContentDigest(of: file.line)) }
      }
    }
    return candidates.filter { lines.contains(ContentDigest(of: $0.file.line)) }
      .sorted { $0.record.path < $1.record.path }
  }
}

extension ItemRecord {
  /// Returns true if this version can have taken the place of another one: a change makes `modified` later, and of two
  /// versions a merge prefers the one with the later `modified` or `secretModified`. Re-encryption makes no other
  /// version.
  fileprivate func mayReplace(_ old: ItemRecord) -> Bool {
    !isSameVersion(as: old) && (modified >= old.modified || secretModified > old.secretModified)
  }
}
