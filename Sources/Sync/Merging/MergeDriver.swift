package import Keyring
package import KeyringModel

/// The merge of one file for plain git: `git merge`, `rebase`, `cherry-pick`, `revert` and `stash` call it for files
/// that both sides have changed; gitattributes(5), "Defining a custom merge driver".
///
/// It sees one file at a time, cannot sign, and never fails for what is in it. What it cannot decide is noted, and
/// done by
/// the next command.
package struct MergeDriver {
  private let pending: PendingMergeFiles
  private let head: () throws -> String

  /// A driver for a store.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - head: Returns the commit that is checked out; called only if something has to be noted.
  package init(for tree: FileTree, head: @escaping () throws -> String) {
    pending = PendingMergeFiles(of: tree)
    self.head = head
  }

  /// Merges a shard by its lines: it is made from the records, so any line that a side has will do.
  ///
  /// Git calls no driver for a record that one side has deleted or renamed, so the shard shows these items.
  ///
  /// - Parameters:
  ///   - base: The file of the common ancestor; empty for none.
  ///   - ours: The file on our side.
  ///   - theirs: The file on their side.
  ///   - number: The number of the shard.
  /// - Returns: The merged file.
  /// - Throws: a file error if something cannot be noted, and what `head` throws.
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
      // As their record: what the index says has to be what is there.
      case (_?, let other?): lines.append(other.bytes)
      case (nil, let other?): lines.append(other.bytes)
      // A line that our side has changed outlives its deletion.
      case (let mine?, nil): if mine.bytes != old[path]?.bytes { continue }
      case (nil, nil): continue
      }
      removed.insert(path)
    }
    return mine.replacingLines(of: removed, by: lines)
  }

  /// Notes an item that both sides have changed and that is not at its place any more on a side.
  private func noteRemoval(_ old: Shard.Line, _ sides: Shard.Line?...) throws {
    guard let record = old.record, !sides.allSatisfy({ $0?.record?.id == record.id }) else { return }
    try pending.write(PendingMergeFiles.Note(record.path, .removed(line: old.bytes), head: try head()))
  }

  private static func lines(_ bytes: [UInt8], _ number: UInt8) -> [ItemPath: Shard.Line] {
    Dictionary(
      Shard(parsing: bytes, number: number).lines.compactMap { line in line.path.map { ($0, line) } }
    ) { first, second in second.isLater(than: first) ? second : first }
  }

  /// Merges a record: their version has the place until the next command has merged both.
  ///
  /// Always theirs, because this shows later whether git has taken the result or given it up.
  ///
  /// - Parameters:
  ///   - base: The file of the common ancestor; empty for none.
  ///   - ours: The file on our side.
  ///   - theirs: The file on their side.
  ///   - path: The path that git merges.
  /// - Returns: The file of one side: ours if a file is too large for a record.
  /// - Throws: a file error if it cannot be noted, and what `head` throws.
  package func mergeRecord(
    base: [UInt8], ours: [UInt8], theirs: [UInt8], at path: ItemPath
  ) throws -> [UInt8] {
    if ours == theirs || theirs == base { return ours }
    if ours == base { return theirs }
    // What is too large for a record is none.
    guard max(base.count, ours.count, theirs.count) <= RecordFile.maximumSize else { return ours }
    let change = PendingMergeFiles.Note.Change.edited(base: base, ours: ours, theirs: theirs)
    try pending.write(PendingMergeFiles.Note(path, change, head: try head()))
    return theirs
  }

  /// Merges an encrypted file: both are kept, and the next command puts the right one into place.
  ///
  /// - Parameters: as for a record.
  /// - Returns: The file of their side, as for a record.
  /// - Throws: a file error if they cannot be kept.
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
