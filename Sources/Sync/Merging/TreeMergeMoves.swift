internal import Keyring
internal import KeyringModel

/// Moves of items to another group.
extension TreeMerge {
  /// Returns the local versions that others would refuse, because their signers are not members of the group in which
  /// the remote has the item. An admin may have removed a signer from that group, or the signer may have restored the
  /// item from a conflict copy or from the history after somebody else had moved it.
  ///
  /// - Parameters:
  ///   - mine: The local items.
  ///   - incoming: The accepted items of the remote.
  ///   - refused: The refused versions of the remote that become conflict copies. If neither side accepts the version of
  ///     the other one, both versions become copies.
  ///   - signed: The versions of the merge base, which count for items that the remote has deleted.
  /// - Returns: The versions by path.
  /// - Throws: The errors of `GroupMoves.refused(among:comparedWith:)`.
  func withdrawnMoves(
    _ mine: [ItemPath: ItemFiles.Content], _ incoming: [ItemPath: VerifiedRecord],
    _ refused: [VerifiedRecord], since signed: [VerifiedRecord]
  ) throws -> [ItemPath: VerifiedRecord] {
    // Without an accepted policy nothing is known about the groups.
    guard judge.distrust == nil else { return [:] }
    let base = Dictionary(grouping: signed.map(\.record), by: \.id)
    let remote = Dictionary(grouping: incoming.values.map(\.record), by: \.id)
    let own = mine.values.compactMap { item -> VerifiedRecord? in
      // Only a complete version can become a conflict copy. Others would refuse a copy that no member has signed.
      guard case .verified(let version) = item,
        judge.policy.isMember(version.signer, ofAny: [version.record.group]),
        base[version.record.id]?.contains(where: { $0.group == version.record.group }) != true,
        // The version of the remote must not replace another item.
        remote[version.record.id]?.allSatisfy({ mine[$0.path] == nil }) ?? true
      else { return nil }
      return version
    }
    let known = remote.merging(base) { other, _ in other }
      .merging(Dictionary(grouping: refused.map(\.record), by: \.id)) { other, _ in other }
    let moves = GroupMoves(since: bases, to: ours.commit, in: repository, objects, [judge]) {
      // If this machine has changed the policy and has not sent that yet, the policy of the remote counts, too.
      guard judge === keyring else { return [] }
      return try PolicyHistoryReader(in: repository).earlier(keyring, at: theirs.commit).map { [$0] } ?? []
    }
    let withdrawn = try moves.refused(among: own, comparedWith: known)
    return Dictionary(uniqueKeysWithValues: withdrawn.map { ($0.record.path, $0) })
  }

  /// Returns keyrings with the policies that were in force at the merge base and later, before that of the merge.
  func earlierJudges() throws -> [Keyring] {
    let policies = PolicyHistoryReader(in: repository)
    let (steps, past) = try policies.steps(before: judge, since: bases)
    return try steps.compactMap { try policies.keyring(judge, at: $0, past) }
  }
}
