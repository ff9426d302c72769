internal import KeyringModel

/// The whole index as it was read, and the state of the files from which it was read.
struct CachedIndex: Sendable {
  /// The number of transactions applied when it was read; nil if a writer was active at that time.
  var count: UInt64?
  /// The time at which the stamps of all files were compared, on the clock of elapsed time.
  let swept: Int64
  /// The index folder of the store, and that of the items that never leave this machine.
  let folders: [CachedFolder]

  /// True if unchanged stamps of the folders alone prove that the index is current.
  var isSettled: Bool { folders.allSatisfy(\.isSettled) }

  /// Answers queries with the same result as `IndexSearch` on files of the same content.
  ///
  /// - Parameter cost: The cost of reading for these queries. It is reported with the first result.
  /// - Throws: The error of an unreadable file that concerns a query.
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
