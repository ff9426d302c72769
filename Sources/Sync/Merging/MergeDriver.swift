package import Keyring
package import KeyringModel

/// The merge driver for plain git: `git merge`, `rebase`, `cherry-pick`, `revert` and `stash` call it for each file
/// that both sides have changed (gitattributes(5), "Defining a custom merge driver").
///
/// It merges one file at a time, cannot sign, and never fails because of the content of a file. It writes notes of
/// unfinished merges, which the next Keytree command finishes.
package struct MergeDriver {
  private let pending: PendingMergeFiles
  private let head: () throws -> String

  /// Creates a driver for a store.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - head: Returns the commit that is checked out. Called only if a note has to be written.
  package init(for tree: FileTree, head: @escaping () throws -> String) {
    pending = PendingMergeFiles(of: tree)
    self.head = head
  }

  /// Merges a shard line by line. A shard can be rebuilt from the records, so the line of either side is acceptable.
  ///
  /// Git does not call a driver for a record that one side has deleted or renamed, so such items are detected from the
  /// shard.
  ///
  /// - Parameters:
  ///   - base: The file of the common ancestor; empty for none.
  ///   - ours: The local file.
  ///   - theirs: The file of the remote.
  ///   - number: The number of the shard.
  /// - Returns: The merged file.
  /// - Throws: A file error if a note cannot be written, and the errors of `head`.
  package func mergeShard(base: [UInt8], ours: [UInt8], theirs: [UInt8], number: UInt8) throws -> [UInt8] {
    let old = Self.lines(base, number)
    let mine = Shard(parsing: ours, number: number)
    let others = Self.lines(theirs, number)
    let own = Self.lines(ours, number)
    var removed: Set<ItemPath> = []
    var lines: [[UInt8]] = []
    for path in Set(old.keys).union(others.keys).sorted() where others[path]?.bytes != old[path]?.bytes {
      if let before = old[path], own[path]?.bytes != before.bytes {
        try noteRemoval(before, own[path], others[path])
      }
      switch (own[path], others[path]) {
      // The remote's line, because its record is taken, too, and the index has to match the record.
      case (_?, let other?): lines.append(other.bytes)
      case (nil, let other?): lines.append(other.bytes)
      // A line that was changed locally and deleted by the remote is kept.
      case (let mine?, nil): if mine.bytes != old[path]?.bytes { continue }
      case (nil, nil): continue
      }
      removed.insert(path)
    }
    return mine.replacingLines(of: removed, by: lines)
  }

  /// Writes a note of an item that both sides have changed and that one side has removed from its path.
  private func noteRemoval(_ old: Shard.Line, _ sides: Shard.Line?...) throws {
    guard let record = old.record, !sides.allSatisfy({ $0?.record?.id == record.id }) else { return }
    try pending.write(PendingMergeFiles.Note(record.path, .removed(line: old.bytes), head: try head()))
  }

  private static func lines(_ bytes: [UInt8], _ number: UInt8) -> [ItemPath: Shard.Line] {
    Dictionary(
      Shard(parsing: bytes, number: number).lines.compactMap { line in line.path.map { ($0, line) } }
    ) { first, second in second.isLater(than: first) ? second : first }
  }

  /// Merges a record. The remote's version is used until the next command merges both.
  ///
  /// It is always the remote's version, because this shows later whether the user has completed or aborted the merge.
  ///
  /// - Parameters:
  ///   - base: The file of the common ancestor; empty for none.
  ///   - ours: The local file.
  ///   - theirs: The file of the remote.
  ///   - path: The path that git merges.
  /// - Returns: The file of one side: the local one if a file is too large for a record.
  /// - Throws: A file error if the note cannot be written, and the errors of `head`.
  package func mergeRecord(
    base: [UInt8], ours: [UInt8], theirs: [UInt8], at path: ItemPath
  ) throws -> [UInt8] {
    if ours == theirs || theirs == base { return ours }
    if ours == base { return theirs }
    // A file that is too large is not a record.
    guard max(base.count, ours.count, theirs.count) <= RecordFile.maximumSize else { return ours }
    let change = PendingMergeFiles.Note.Change.edited(base: base, ours: ours, theirs: theirs)
    try pending.write(PendingMergeFiles.Note(path, change, head: try head()))
    return theirs
  }

  /// Merges an encrypted file. Both files are kept, and the next command selects the right one.
  ///
  /// - Parameters: As for a record.
  /// - Returns: The file of the remote, as for a record.
  /// - Throws: A file error if the files cannot be kept.
  package func mergeMessage(
    base: [UInt8], ours: [UInt8], theirs: [UInt8]
  ) throws -> [UInt8] {
    if ours == theirs || theirs == base { return ours }
    if ours == base { return theirs }
    guard theirs.count <= StoreLayout.sealedItemLimit else { return ours }
    for message in [ours, theirs] { try pending.keep(message) }
    return theirs
  }
}

extension Shard.Line {
  /// Returns true if the item of this line was changed after the item of another line.
  fileprivate func isLater(than other: Shard.Line) -> Bool {
    guard let mine = record, let theirs = other.record else { return record != nil }
    return mine.isLater(than: theirs, bySecret: true)
  }
}
