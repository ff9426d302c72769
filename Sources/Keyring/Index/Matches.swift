public import KeyringModel

/// The result of a query: the attributes of matching items, and problems found during the search.
public struct Matches: Sendable {
  /// The items, in the order of their creation.
  public var items: [ItemRecord]
  /// The damage found in the shards that were read. Damaged lines are not among the items.
  public var problems: [IndexProblem]
  /// The cost of the search.
  package var statistics: SearchStatistics
  /// True if the store has encrypted items but no index at all, so that nothing can be found before `Keyring.repair`
  /// rebuilds it.
  public var isIndexLost = false
}

/// Damage in one shard file.
public struct IndexProblem: Sendable, Equatable {
  /// The shard's path in the store, such as `index/31.jsonl`.
  public let file: String
  /// The kind of damage.
  package let problem: ShardFinding
}

/// The cost of a search.
package struct SearchStatistics: Sendable, Equatable {
  /// The number of shards that were read.
  package var shardsRead = 0
  /// The number of lines that were parsed because a search of their bytes did not rule them out.
  package var linesParsed = 0

  /// Adds the cost of another search.
  package static func += (cost: inout SearchStatistics, other: SearchStatistics) {
    cost.shardsRead += other.shardsRead
    cost.linesParsed += other.linesParsed
  }
}
