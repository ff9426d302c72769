internal import KeyringModel

/// The whole index as it was read, and what it was read from.
struct CachedIndex: Sendable {
  /// How many transactions were applied when it was read; nil when a writer was at work meanwhile.
  var count: UInt64?
  /// When the stamps of all files were compared, by the clock of elapsed time.
  let swept: Int64
  /// The folder of the store, and that of the items which never leave this machine.
  let folders: [CachedFolder]

  /// Whether stamps of the folders alone tell that it still holds.
  var isSettled: Bool { folders.allSatisfy(\.isSettled) }

  /// Answers queries as `IndexSearch` does from files of the same content.
  ///
  /// - Parameter cost: what was read for these answers; reported with the first one.
  /// - Throws: the error of a file that a query concerns and that could not be read.
  func find(
    _ queries: [Query], in tree: FileTree, cost: SearchStatistics = SearchStatistics()
  ) throws(KeyringError) -> [Matches] {
    var cost = cost
    return try queries.map { query throws(KeyringError) in
      defer { cost = SearchStatistics() }
      return try find(query, in: tree, cost: cost)
    }
  }

  private func find(
    _ query: Query, in tree: FileTree, cost: SearchStatistics
  ) throws(KeyringError) -> Matches {
    let plan = QueryPlan(query)
    let keys = query.predicates.compactMap(ExactKey.of)
    var collector = MatchCollector(query: query, plan: plan, cost: cost)
    for folder in folders { try folder.scan(plan, keys, into: &collector) }
    var matches = collector.finish()
    if folders[0].isEmpty {
      matches.isIndexLost = try IndexSearch.isIndexLost(in: tree)
    }
    return matches
  }
}
