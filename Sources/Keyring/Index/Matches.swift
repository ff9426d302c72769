public import KeyringModel

/// The answer of the index to a query: attributes, and what was noticed on the way.
public struct Matches: Sendable {
  /// The items, in the order of their creation.
  public var items: [ItemRecord]
  /// Damage met in the shards that were read; the damaged lines are not among the items.
  public var problems: [IndexProblem]
  /// What the answer cost.
  public var statistics: SearchStatistics
  /// Whether the store has sealed items but no index at all, so that nothing can be found before
  /// `Keyring.repair` rebuilds it.
  public var isIndexLost = false
}

/// Damage in one shard file.
public struct IndexProblem: Sendable, Equatable {
  /// The shard's path in the store, such as `index/31.jsonl`.
  public let file: String
  /// What is wrong there.
  public let problem: ShardProblem
}

/// What a search cost.
public struct SearchStatistics: Sendable, Equatable {
  /// Shards whose bytes were read.
  public var shardsRead = 0
  /// Lines that were parsed, because a search of their bytes could not rule them out.
  public var linesParsed = 0
}
