internal import KeyringModel

/// One pass over the shards that can contain matches of a query.
///
/// A shard is first searched for bytes that a matching line must contain, and only lines with these bytes are parsed
/// (DESIGN section 4). Reading and searching 100,000 items takes long enough for threads to pay off, so the work is
/// distributed over the processors.
enum IndexSearch {
  /// Answers a query.
  static func run(_ query: Query, in tree: FileTree) throws(KeyringError) -> Matches {
    try run([query], in: tree)[0]
  }

  /// Answers queries. A shard that concerns several of them is read once.
  ///
  /// - Returns: The matches of each query, in the order of the queries.
  static func run(_ queries: [Query], in tree: FileTree) throws(KeyringError) -> [Matches] {
    let searches = queries.map(Search.init)
    var collectors = searches.map(\.collector)
    let pieces = try pieces(of: searches, in: tree)
    // Local items have a separate index, which does not show whether the store's index is lost.
    var sharedShards = 0
    func take(_ parts: [MatchCollector], of piece: Piece) {
      for (index, part) in parts.enumerated() {
        if !piece.isLocal { sharedShards += part.statistics.shardsRead }
        collectors[index].append(part)
      }
    }
    do throws(FileError) {
      if pieces.count <= 2 {
        for piece in pieces { take(try scan(piece, searches, in: tree), of: piece) }
      } else {
        let results = try WorkerPool(workers: 0).map(pieces.count) { (number) throws(FileError) in
          try scan(pieces[number], searches, in: tree)
        }
        for (piece, parts) in zip(pieces, results) { take(parts, of: piece) }
      }
    } catch {
      throw .file(error)
    }
    let isIndexLost = sharedShards == 0 ? try Self.isIndexLost(in: tree) : false
    return collectors.map { collector in
      var matches = collector.finish()
      matches.isIndexLost = isIndexLost
      return matches
    }
  }

  /// A query, and the plan for searching it.
  private struct Search: Sendable {
    let plan: QueryPlan
    let collector: MatchCollector

    init(_ query: Query) {
      plan = QueryPlan(query)
      collector = MatchCollector(query: query, plan: plan)
    }
  }

  /// Shards that one thread reads in sequence.
  private struct Piece: Sendable {
    let isLocal: Bool
    let numbers: [UInt8]
  }

  /// Returns the pieces, in the order in which their matches are combined.
  private static func pieces(of searches: [Search], in tree: FileTree) throws(KeyringError) -> [Piece] {
    let numbers = (UInt8.min...UInt8.max).filter { number in
      searches.contains { $0.plan.shards.contains(number) }
    }
    // More pieces than threads, so that the threads finish at about the same time.
    let size = 32
    var pieces = stride(from: 0, to: numbers.count, by: size).map { start in
      Piece(isLocal: false, numbers: Array(numbers[start...].prefix(size)))
    }
    if try files(tree.status(StoreLayout.indexFolder(isLocal: true))) != nil {
      pieces.append(Piece(isLocal: true, numbers: numbers))
    }
    return pieces
  }

  /// Returns the matches of each query in a piece.
  private static func scan(
    _ piece: Piece, _ searches: [Search], in tree: FileTree
  ) throws(FileError) -> [MatchCollector] {
    var collectors = searches.map(\.collector)
    guard let folder = try tree.folder(StoreLayout.indexFolder(isLocal: piece.isLocal)) else {
      return collectors
    }
    var buffer: [UInt8] = []
    for number in piece.numbers {
      let name = StoreLayout.shardName(number)
      let status = try tree.waitingForWriters { () throws(FileError) in
        try folder.read(name, into: &buffer, limit: StoreLayout.shardLimit)
      }
      if status == nil { continue }
      for (index, search) in searches.enumerated() where search.plan.shards.contains(number) {
        collectors[index].scan(buffer, shard: number, isLocal: piece.isLocal)
      }
    }
    return collectors
  }
}

extension IndexSearch {
  /// Returns true if there are encrypted items but the index folder is empty.
  static func isIndexLost(in tree: FileTree) throws(KeyringError) -> Bool {
    guard try files(tree.list(StoreLayout.index)).isEmpty else { return false }
    return try hasItems(tree)
  }

  /// Returns true if there is a file in the folders for items. Empty folders do not count, because a writer creates
  /// them before it commits a transaction.
  private static func hasItems(_ tree: FileTree) throws(KeyringError) -> Bool {
    for itemClass in try files(tree.list(StoreLayout.items)) {
      let folder = "\(StoreLayout.items)/\(itemClass)"
      // Anything that is not a folder is not an item. `check` reports it.
      guard let containers = try? tree.list(folder) else { continue }
      for container in containers {
        if let names = try? tree.list("\(folder)/\(container)"), !names.isEmpty { return true }
      }
    }
    return false
  }
}
