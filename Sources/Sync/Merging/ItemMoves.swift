internal import Keyring
internal import KeyringModel

/// Finds items that have moved to another group since the merge base.
struct ItemMoves {
  /// The versions of the merge base, and those of the remote of items that are not in it.
  let known: [ItemID: [ItemRecord]]

  /// Creates the search.
  ///
  /// - Parameters:
  ///   - versions: The versions of the merge base.
  ///   - theirs: The items of the remote. If one side has moved an item of which the merge base has only a conflict copy,
  ///     and the other side has restored it from the copy, the version of the remote is the earlier one.
  init(from versions: [VerifiedRecord], or theirs: [ItemPath: ItemFiles.Content]) {
    let base = Dictionary(grouping: versions.map(\.record), by: \.id)
    known = base.merging(Dictionary(grouping: theirs.values.compactMap { $0.verified?.record }, by: \.id)) {
      versions, _ in versions
    }
  }

  /// Returns true if an item is in a group in which no known version of it is.
  func contains(_ item: ItemFiles.Content) -> Bool {
    guard let record = item.verified?.record, let versions = known[record.id] else { return false }
    return !versions.contains { $0.group == record.group }
  }

  /// Returns the complete items of one side that have moved, without those that the other side has, too.
  func versions(
    in side: [ItemPath: ItemFiles.Content], notIn other: [ItemPath: ItemFiles.Content]
  ) -> [VerifiedRecord] {
    side.compactMap { path, item in
      guard case .verified(let version) = item, contains(item),
        other[path]?.verified?.record != version.record
      else { return nil }
      return version
    }
  }
}

extension TreeMerge {
  /// Returns the local moves that others would refuse, because an admin has removed their signer from the old group.
  ///
  /// - Parameters:
  ///   - moved: The local versions that are in another group than in the merge base.
  ///   - moves: The versions of the merge base.
  ///   - judges: The keyrings whose policies allow moves.
  /// - Returns: The versions by path.
  /// - Throws: The errors of `GroupMoves.refused(among:comparedWith:)`.
  func withdrawnMoves(
    _ moved: [VerifiedRecord], _ moves: ItemMoves, by judges: [Keyring]
  ) throws -> [ItemPath: VerifiedRecord] {
    // Without an accepted policy nothing is known about the groups.
    guard judge.distrust == nil else { return [:] }
    let refused = try GroupMoves(since: bases, to: ours.commit, in: repository, objects, judges)
      .refused(among: moved, comparedWith: moves.known)
    return Dictionary(uniqueKeysWithValues: refused.map { ($0.record.path, $0) })
  }
}
