internal import Keyring
internal import KeyringModel

/// Merges the encrypted files that other programs have added or changed at the paths of items. No member has signed
/// them, so a merge never gives them a record, never replaces the file of an item by one that the remote has changed,
/// and never loses one that a side has created. The changed file is kept at a second path (``SecondPath``).
struct ForeignFileMerge {
  /// The files of the items.
  let files: ItemFiles
  /// The merge base.
  let base: String
  /// The local commit.
  let ours: String
  /// The commit of the remote.
  let theirs: String
  /// The local items.
  let mine: [ItemPath: ItemFiles.Content]
  /// The paths that no side has changed, and to which the merge may have moved items.
  let occupied: Set<ItemPath>
  /// The merged records.
  let merged: [ItemPath: ItemRecord]

  /// Adds the files to the result of a merge that contains the merged items.
  ///
  /// - Parameters:
  ///   - incoming: The items of the remote.
  ///   - replayed: Returns those of some items whose changed file on a side is not new. They are refused or ignored.
  ///   - result: The result.
  /// - Throws: The errors of `replayed`.
  func merge(
    _ incoming: IncomingItems, replayed: ([ItemPath], MergeSide) throws -> Set<ItemPath>,
    into result: inout MergedFiles
  ) throws {
    for path in incoming.notAdopted {
      if merged[path] == nil {
        mergeFile(path, into: &result)
      } else if files.secretName(path, at: theirs) != files.secretName(path, at: base) {
        // The merge has restored an item there.
        keepSecond(path, theirs, &result)
      }
    }
    for path in incoming.obstructed { keepSecond(path, theirs, &result) }
    try keepOwnChanges(incoming, replayed, into: &result)
    let old = try replayed(incoming.changed, .theirs)
    for path in incoming.changed {
      if old.contains(path) {
        result.refused.append(
          RefusedChange(path: ItemFiles.recordFile(path), reason: .record(.damage(.notAsRecorded))))
      } else if let merged = merged[path], !isOwnChange(path), !hasFile(merged, result),
        let bytes = files.secret(path, at: theirs)
      {
        // The file that the record describes is nowhere in the history, so there is nothing to keep instead.
        result.receive(bytes, asForeignFile: ItemFiles.secretFile(path))
      } else {
        keepSecond(path, theirs, &result)
      }
    }
  }

  /// Returns true if a result has the file that a merged record describes.
  private func hasFile(_ record: ItemRecord, _ result: MergedFiles) -> Bool {
    switch result.store[ItemFiles.secretFile(record.path)] {
    case .bytes(let bytes): ContentDigest(of: bytes) == record.sealed
    case .removed: false
    case nil: files.secret(record.path, at: ours).map { ContentDigest(of: $0) } == record.sealed
    }
  }

  /// Merges a path without an item like any file, except that an edit wins over a deletion, and that both of two edits
  /// are kept.
  private func mergeFile(_ path: ItemPath, into result: inout MergedFiles) {
    let (old, own, new) = (
      files.secretName(path, at: base), files.secretName(path, at: ours), files.secretName(path, at: theirs)
    )
    if new == own || new == old { return }
    let file = ItemFiles.secretFile(path)
    if own == old || own == nil {
      guard let bytes = files.secret(path, at: theirs) else {
        result.store[file] = .removed
        return
      }
      result.receive(bytes, asForeignFile: file)
    } else {
      keepSecond(path, theirs, &result)
    }
  }

  /// Returns true if this side has changed the file of an item since the base, without its record, or if both sides have
  /// such a file at a path to which the merge may have moved an item.
  private func isOwnChange(_ path: ItemPath) -> Bool {
    guard case .changed? = mine[path] else { return false }
    return occupied.contains(path) || files.secretName(path, at: ours) != files.secretName(path, at: base)
  }

  /// Keeps the files that programs on this side have added or changed. If the merge replaces or removes the item, the
  /// file gets a second path.
  private func keepOwnChanges(
    _ incoming: IncomingItems, _ replayed: ([ItemPath], MergeSide) throws -> Set<ItemPath>,
    into result: inout MergedFiles
  ) throws {
    let changed = mine.keys.filter { isOwnChange($0) && result.store[ItemFiles.secretFile($0)] != nil }
      .sorted()
    let old = try replayed(changed, .ours)
    for path in changed where !old.contains(path) {
      let file = ItemFiles.secretFile(path)
      if let record = mine[path]?.verified?.record, merged[path]?.sealed == record.sealed {
        result.store[file] = nil
      } else {
        keepSecond(path, ours, &result)
      }
    }
    for (path, content) in mine where content.isNotAdopted && merged[path] != nil {
      // A member who has adopted the file has seen the version of the base only.
      let isAdopted = incoming.items[path] != nil
      if !isAdopted || files.secretName(path, at: ours) != files.secretName(path, at: base) {
        keepSecond(path, ours, &result)
      }
    }
  }

  private func keepSecond(_ path: ItemPath, _ commit: String, _ result: inout MergedFiles) {
    guard let bytes = files.secret(path, at: commit) else { return }
    let origin = ItemFiles.secretFile(path)
    let file = SecondPath.of(origin, ContentDigest(of: bytes))
    if commit == theirs {
      result.receive(bytes, asForeignFile: file, from: origin)
    } else {
      result.store[file] = .bytes(bytes)
    }
  }
}
